// plays recorded answers, so that no key is needed; replace it with a model such as 'openai/gpt-5.4-mini'
export default { model: 'scripted/answers.yaml' };

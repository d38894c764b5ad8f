/** What `perdure --help` says below the list of verbs. */
export const PROGRAM_HELP = `
Examples:
  perdure run 'add a test for the parser' --workspace . --max-turns 30
  perdure run 'add a test' --model anthropic/claude-sonnet-5 --fallback openai-responses/gpt-5.4-mini --thinking low
  perdure start 'write the release notes' --workspace .     come back at once
  perdure steer RUN 'leave the changelog alone'             while it runs
  perdure approvals                                         what waits for a person; then approve or deny
  perdure continue RUN 'now fix the warnings'               after it ended
  perdure models                                            what can be chosen as a model

A run is kept by Temporal: kill anything at any moment, and it goes on with the next command in the same folder.
Without TEMPORAL_ADDRESS the server is this folder's own, with its state in .perdure (PERDURE_DIR names another folder).

Exit status of run, watch and continue: 0 completed or let go of, 1 error or refusal, 6 ended at a cap, 130 cancelled.
Of every verb: 2 bad input, 3 not found, 4 refused, 5 unreachable.`;

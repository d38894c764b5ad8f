/** The id under which a run whose budget is spent asks; `extend` or `deny` answers it. */
export const BUDGET_APPROVAL = 'budget';

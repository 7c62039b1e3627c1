/** The views beside the chat. */
export const tabs = ['Onion', 'State', 'Events', 'Recall', 'Usage', 'Logs', 'Agent', 'Evals', 'Replay'] as const
export type Tab = (typeof tabs)[number]

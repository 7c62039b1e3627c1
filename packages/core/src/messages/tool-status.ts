/** How a tool call ended. */
export type ToolStatus = 'ok' | 'error' | 'denied' | 'skipped' | 'suspended'

/** A workflow calls one of these tools for each step. The id of the call begins with the name of the step. */
const workflowTools = ['step', 'agent', 'approval', 'sleep']

/** Returns the name of a tool call: that of the tool, and of the step in a workflow, such as `step load`. */
export function callName(tool: string, callId = '', args?: unknown): string {
  const { name } = (args ?? {}) as { name?: unknown }
  const isStep = workflowTools.includes(tool) && typeof name === 'string' && name !== '' && callId.startsWith(name)
  // A later run of the session has a number after the name.
  return isStep ? `${tool} ${callId.replace(/@\d+$/, '')}` : tool
}

/**
 * Whether the switch of memory concerns the passages of an agent. It does not concern documents, whose sessions have an `agent` of their own:
 * they are not remembered of anyone.
 */
export function isMemory(agent: string | undefined): boolean {
  return agent?.startsWith('memory:documents/') !== true
}

import type { ToolResultPart } from './message.ts'

/** The result of a call that its provider ran. Neither a model nor a cache that answers for it decides a call, or labels its result as trusted. */
export function providerResult({
  approval: _approval,
  approved: _approved,
  approvalSeal: _seal,
  flow: _flow,
  missing: _missing,
  ...part
}: ToolResultPart): ToolResultPart {
  return part
}

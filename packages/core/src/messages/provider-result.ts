import type { ToolResultPart } from './message.ts'

/** Removes fields that only the core may set. So a model or a cached answer cannot approve a call or label its result as trusted. */
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

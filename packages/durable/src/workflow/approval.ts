import type { Identity, SuspendRequest } from '@allium/core'
import { checkOptions, type KeysOf, resultText } from '@allium/core/internal'
import type { CommandRequest } from './command.ts'
import { invalidOption } from './errors.ts'
import { valueOfResult } from './results.ts'

export interface ApprovalStepOptions {
  /** What the approver decides about, as plain data. It is sealed: a decision is valid for these details only. */
  details?: Readonly<Record<string, unknown>> | undefined
  /** Why an approval is needed, for the approver. */
  reason?: string | undefined
  /** Milliseconds for the decision. After that, the approval counts as denied. @default `approvals.expiresIn` of the workflow */
  expiresIn?: number | undefined
}

/** The decision of a person. */
export interface ApprovalDecision {
  readonly approved: boolean
  /** Why it was denied. */
  readonly reason?: string
  /** The details, with the changes of the approver. */
  readonly details: Readonly<Record<string, unknown>>
  /** The `data` that the approver added. */
  readonly data?: unknown
  /** The approver, from the verified principal. */
  readonly by?: Identity
}

const known: KeysOf<ApprovalStepOptions> = { details: true, reason: true, expiresIn: true }

/** @throws AlliumError `options.invalid` */
export function approvalRequest(name: string, request: ApprovalStepOptions = {}): CommandRequest {
  checkOptions(request, known, `ctx.approval("${name}")`, 'options.invalid')
  const { details = {}, reason, expiresIn } = request
  if (expiresIn !== undefined && !(expiresIn > 0 && expiresIn < Number.POSITIVE_INFINITY))
    throw invalidOption(
      `ctx.approval("${name}") takes expiresIn as milliseconds above 0, but ${String(expiresIn)} was given.`,
    )
  const suspend: SuspendRequest = {
    reason: reason ?? `The workflow asks for the approval "${name}".`,
    ...(expiresIn !== undefined && { expiresIn }),
  }
  return {
    ...{ kind: 'approval', name, args: { name, details }, suspend },
    read(result): ApprovalDecision {
      const by = result.approval?.by
      const who = by === undefined ? {} : { by }
      if (result.isError === true) return { approved: false, reason: resultText(result.content), details, ...who }
      return { ...(valueOfResult(result) as Pick<ApprovalDecision, 'details' | 'data'>), approved: true, ...who }
    },
  }
}

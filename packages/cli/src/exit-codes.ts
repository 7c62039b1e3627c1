import { isAlliumError, type RunResult } from 'allium'

/** Exit codes by which scripts can distinguish results. */
export const exitCodes = {
  /** The turn was answered, or stopped on purpose. */
  ok: 0,
  failed: 1,
  /** The command line or the config has an error. */
  usage: 2,
  blocked: 3,
  /** Tool calls wait for approval. */
  suspended: 4,
  /** An evaluation has too few cases to decide a gate. */
  undecided: 5,
  /** A gate of an evaluation cannot be decided, because scores or the baseline are missing. */
  invalid: 6,
  /** Ctrl-C. */
  aborted: 130,
} as const

export function codeOf({ status }: Pick<RunResult, 'status'>): number {
  return codes[status]
}

const codes: Record<RunResult['status'], number> = {
  completed: exitCodes.ok,
  stopped: exitCodes.ok,
  blocked: exitCodes.blocked,
  suspended: exitCodes.suspended,
}

/** The abort reason of Ctrl-C. An abort for another reason is a failure like any other. */
export const interrupted = new DOMException('Ctrl-C', 'AbortError')

export function codeOfError(error: unknown): number {
  if ((error as { reason?: unknown } | null | undefined)?.reason === interrupted) return exitCodes.aborted
  const isMistake = isAlliumError(error) && /^(config|layer|agent)\./.test(error.code)
  return isMistake || error instanceof UsageError ? exitCodes.usage : exitCodes.failed
}

/** The command line has an error. */
export class UsageError extends Error {
  override readonly name = 'UsageError'
}

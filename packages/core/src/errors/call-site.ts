/** The call site of a function: one stack frame, which the engine formats only when it is read. */
export interface CallSite {
  readonly stack?: string
}

interface StackTraces {
  captureStackTrace?(holder: object, below: unknown): void
  stackTraceLimit?: number
}

/** Maximum call sites per minute. One takes 5 to 10 µs on Node 20, which would add up for an agent per request. */
const most = 1_000
const minute = 60_000
let taken = 0
let since = 0

/** Returns undefined if the platform does not support it, and after the first thousand per minute. */
export function callSiteOf(called: (...args: never[]) => unknown): CallSite | undefined {
  const platform = Error as StackTraces
  if (platform.captureStackTrace === undefined || !hasBudget()) return undefined
  const { stackTraceLimit } = platform
  const site: CallSite = {}
  try {
    platform.stackTraceLimit = 1
    platform.captureStackTrace(site, called)
  } finally {
    if (stackTraceLimit !== undefined) platform.stackTraceLimit = stackTraceLimit
  }
  return site
}

function hasBudget(): boolean {
  const now = performance.now()
  if (now - since > minute) {
    since = now
    taken = 0
  }
  return ++taken <= most
}

/** Returns the line of a call site, as formatted in a stack. */
export function lineOf(site: CallSite | undefined): string | undefined {
  return site?.stack?.split('\n').find((line) => line.startsWith('    at '))
}

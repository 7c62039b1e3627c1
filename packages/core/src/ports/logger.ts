import { isThenable, silence } from '../errors/thenable.ts'

/** Receives messages that cannot reach a caller: late rejections, warnings of init, the original error of a tool. */
export interface Logger {
  /** Details for debugging. @default dropped */
  debug?(message: string, details?: Record<string, unknown>): void
  warn(message: string, details?: Record<string, unknown>): void
  error(message: string, details?: Record<string, unknown>): void
}

export const consoleLogger: Logger = {
  warn: (message, details) => (details === undefined ? console.warn(message) : console.warn(message, details)),
  error: (message, details) => (details === undefined ? console.error(message) : console.error(message, details)),
}

/** Wraps a logger so that its errors never fail a run. If logging fails, it retries without the details, then drops the message. */
export function safeLogger(logger: Logger): Logger {
  const say =
    (level: 'debug' | 'warn' | 'error'): Logger['warn'] =>
    (message, details) => {
      try {
        watch(logger[level]?.(message, details))
      } catch {
        sayWithout(() => logger[level]?.(message))
      }
    }
  const safe = { warn: say('warn'), error: say('error') }
  return logger.debug === undefined ? safe : { ...safe, debug: say('debug') }
}

/** Logs only the message. An error whose getters throw cannot be printed, but the message is a string. */
function sayWithout(log: () => unknown): void {
  try {
    watch(log())
  } catch {
    // The log itself failed, so there is nowhere to report this.
  }
}

/** Ignores the rejection of an asynchronous logger. */
function watch(written: unknown): void {
  if (isThenable(written)) silence(written)
}

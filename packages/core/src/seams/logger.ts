import { isThenable, silence } from '../errors/thenable.ts'

/** Where Allium says what no caller can be told: late rejections, warnings of init, what a tool really threw. */
export interface Logger {
  /** Details for who looks for a fault. @default dropped */
  debug?(message: string, details?: Record<string, unknown>): void
  warn(message: string, details?: Record<string, unknown>): void
  error(message: string, details?: Record<string, unknown>): void
}

export const consoleLogger: Logger = {
  warn: (message, details) => (details === undefined ? console.warn(message) : console.warn(message, details)),
  error: (message, details) => (details === undefined ? console.error(message) : console.error(message, details)),
}

/** A logger that fails nobody: what cannot be written with its details is written without, or dropped. */
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

/** An error whose getters throw cannot be printed; the message, a text, can. */
function sayWithout(log: () => unknown): void {
  try {
    watch(log())
  } catch {
    // A log that cannot be written has nobody left to be told.
  }
}

/** A logger may be asynchronous, and reject. */
function watch(written: unknown): void {
  if (isThenable(written)) silence(written)
}

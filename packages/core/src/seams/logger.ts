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

/** The environment of a command. `process` fits. */
export interface CommandContext {
  readonly stdin: NodeJS.ReadableStream & { isTTY?: boolean }
  readonly stdout: NodeJS.WritableStream & Terminal
  readonly stderr: NodeJS.WritableStream & Terminal
  readonly env: Readonly<Record<string, string | undefined>>
  cwd(): string
  on(event: 'SIGINT', listener: () => void): unknown
  off(event: 'SIGINT', listener: () => void): unknown
}

interface Terminal {
  isTTY?: boolean
  /** The width in characters. */
  columns?: number
}

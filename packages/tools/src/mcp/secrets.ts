import { AlliumError, isAlliumError, messageOf } from '@allium/core'
import { hide } from '../hide.ts'
import { isHttp, type McpServer } from './server.ts'

/** Removes secrets from errors and log lines: the values of headers and variables, and the credentials in a URL. */
export class Secrets {
  readonly #values = new Set<string>()

  constructor(server: McpServer) {
    if (isHttp(server)) this.#addUrl(new URL(server.url))
    else this.add(Object.values(variables(server.env)))
  }

  /** Adds each value and its words, because an error may quote `Bearer x` or only `x`. */
  add(values: readonly string[]): void {
    for (const value of values)
      for (const secret of [value, value.trim(), ...value.split(/\s+/)])
        if (secret.length >= 4 && secret.toLowerCase() !== 'bearer' && secret.toLowerCase() !== 'basic')
          this.#values.add(secret)
  }

  hide(text: string): string {
    return hide(text, [...this.#values])
  }

  /** Returns an error that is safe for operators: its own message and those of its causes, and no other fields. */
  redactError(thrown: unknown): unknown {
    if (isAlliumError(thrown)) {
      const { code, message, cause, expose, details } = thrown
      return cause === undefined
        ? thrown
        : new AlliumError(code, message, { cause: this.redactError(cause), expose, details })
    }
    const copy = new Error(this.describe(thrown))
    if (thrown instanceof Error) copy.name = thrown.name
    return copy
  }

  /** Joins the messages of the causes, which have more detail: `fetch failed: connect ECONNREFUSED 127.0.0.1:80`. */
  describe(thrown: unknown): string {
    const messages: string[] = []
    for (let error = thrown; error !== undefined && messages.length < 3; error = causeOf(error))
      messages.push(messageOf(error))
    return this.hide(messages.join(': ')).slice(0, 500)
  }

  #addUrl(url: URL): void {
    const { username, password, searchParams } = url
    this.add([username, password, decodeURIComponent(password), ...searchParams.values()])
  }
}

/** Returns the environment variables of the child. Variables without a value are copied from this process. */
export function variables(
  given: readonly string[] | Readonly<Record<string, string | true>> = {},
): Record<string, string> {
  const entries = Array.isArray(given) ? given.map((name) => [name, true] as const) : Object.entries(given)
  const filled = entries.map(([name, value]) => [name, value === true ? process.env[name] : value] as const)
  return Object.fromEntries(filled.filter((entry): entry is readonly [string, string] => entry[1] !== undefined))
}

function causeOf(error: unknown): unknown {
  if (typeof error !== 'object' || error === null) return undefined
  const { cause, errors } = error as { cause?: unknown; errors?: unknown[] }
  return cause ?? errors?.[0]
}

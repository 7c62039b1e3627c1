import { AlliumError, type ErrorCode } from '@allium/core'

export type Path = readonly (string | number)[]

/** A line and a column, counted from 1. */
interface Position {
  readonly line: number
  readonly column: number
}

/** A loaded config, with the position of each value. */
export interface Source {
  /** The absolute path; undefined for an object. */
  readonly file: string | undefined
  /** The folder that paths are relative to. */
  readonly root: string
  /** Whether it may contain code: hooks, tools, servers, layers. */
  readonly trusted: boolean
  /** Whether it is YAML or JSON, which cannot contain layers and functions. */
  readonly isData: boolean
  readonly data: unknown
  /** Returns the original text of a value that came from the environment, for messages that must not contain the value. */
  written(path: Path): string | undefined
  /** Removes values that came from the environment from a text. */
  conceal(text: string): string
  /** Returns the position of a value, its key, or the nearest enclosing one; undefined without a text. */
  at(path: Path, key?: string): Position | undefined
}

/** Creates an error with its position in the config: file, line, column and key. */
export function mistake(
  source: Pick<Source, 'file' | 'at'>,
  code: ErrorCode,
  path: Path,
  problem: string,
  { key, cause, ...extra }: { key?: string; cause?: unknown; expected?: string } = {},
): AlliumError {
  const { line, column } = source.at(path, key) ?? {}
  const file = source.file ?? 'The config object'
  const location = line === undefined ? file : `${file}:${line}:${column}`
  const name = formatPath(key === undefined ? path : [...path, key])
  return new AlliumError(code, `${location}: ${name === '' ? 'the config' : name} ${problem}`, {
    cause,
    details: { file: source.file, line, column, path: name, ...extra },
  })
}

/** Formats a path as in JavaScript: `agent.use[0]`. */
export function formatPath(path: Path): string {
  return path.reduce<string>((text, key) => {
    if (typeof key === 'number') return `${text}[${key}]`
    if (!/^[\w$]+$/.test(key)) return `${text}[${JSON.stringify(key)}]`
    return text === '' ? key : `${text}.${key}`
  }, '')
}

/** Whether a path is a hook entry. Those contain template literals, so they are not interpolated. */
export function isHookEntry(path: Path): boolean {
  return path[0] === 'agent' && path[1] === 'middleware'
}

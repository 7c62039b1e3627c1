import { AlliumError, type ErrorCode } from '@allium/core'

export type Path = readonly (string | number)[]

/** A line and a column, from 1. */
interface Position {
  readonly line: number
  readonly column: number
}

/** A config as it was read, and where each of its values stands. */
export interface Source {
  /** Absolute; undefined for an object. */
  readonly file: string | undefined
  /** The folder that paths are relative to. */
  readonly root: string
  /** Whether it may bring code: hooks, tools, servers, layers. */
  readonly trusted: boolean
  /** Whether it is YAML or JSON, which hold no layers and no functions. */
  readonly isData: boolean
  readonly data: unknown
  /** What stands in the file in the place of a value that came from the environment: that is told, and the value is not. */
  written(path: Path): string | undefined
  /** A text without the values that came from the environment. */
  conceal(text: string): string
  /** Where a value stands, or its key, or the nearest thing around it; undefined where there is no text. */
  at(path: Path, key?: string): Position | undefined
}

/** An error that tells its place in the config: file, line, column and key. */
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

/** As it is written in JavaScript: `agent.use[0]`. */
export function formatPath(path: Path): string {
  return path.reduce<string>((text, key) => {
    if (typeof key === 'number') return `${text}[${key}]`
    if (!/^[\w$]+$/.test(key)) return `${text}[${JSON.stringify(key)}]`
    return text === '' ? key : `${text}.${key}`
  }, '')
}

/** Where hook entries stand: they hold template literals, and nothing in them is interpolated. */
export function isHookEntry(path: Path): boolean {
  return path[0] === 'agent' && path[1] === 'middleware'
}

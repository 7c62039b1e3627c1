import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { Instrumenter } from '@stryker-mutator/instrumenter'

/** A change of a source file that a switch turns on. Lines and columns count from 0. */
export interface Mutant {
  readonly id: string
  readonly file: string
  readonly mutator: string
  readonly replacement: string
  readonly start: Position
  readonly end: Position
}

interface Position {
  readonly line: number
  readonly column: number
}

/** Sources with a switch for each mutant, by their path. */
export interface Instrumented {
  readonly mutants: readonly Mutant[]
  readonly sources: Readonly<Record<string, string>>
}

const off = () => false
const silent = () => {}
const logger = {
  isTraceEnabled: off,
  isDebugEnabled: off,
  isInfoEnabled: off,
  isWarnEnabled: off,
  isErrorEnabled: off,
  isFatalEnabled: off,
  trace: silent,
  debug: silent,
  info: silent,
  warn: console.warn,
  error: console.error,
  fatal: console.error,
}

/** Makes the mutants of these files with Stryker's mutators. @param files paths below `root` */
export async function instrument(root: string, files: readonly string[]): Promise<Instrumented> {
  const inputs = files.map((file) => ({
    name: join(root, file),
    mutate: true,
    content: readFileSync(join(root, file), 'utf8'),
  }))
  const options = { plugins: null, excludedMutations: [], ignorers: [] }
  const { files: outputs, mutants } = await new Instrumenter(logger).instrument(inputs, options)
  return {
    sources: Object.fromEntries(outputs.map(({ name, content }) => [name, content])),
    mutants: mutants.map(({ id, fileName, mutatorName, replacement, location }) => ({
      id,
      file: fileName.slice(root.length),
      mutator: mutatorName,
      replacement,
      start: location.start,
      end: location.end,
    })),
  }
}

import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Mutant } from './instrument.ts'
import type { Outcome } from './tester.ts'

export interface Result extends Outcome {
  readonly mutant: Mutant
}

export function survived({ reached, found }: Result): boolean {
  return reached && found === undefined
}

/** Returns the mutants that survived and a table of the files. `score` is the percentage of reached mutants that was found. */
export function reportOf(root: string, results: readonly Result[]): { text: string; score: number } {
  const files = [...new Set(results.map(({ mutant }) => mutant.file))].sort()
  const rows = files.map((file) =>
    rowOf(
      file,
      results.filter(({ mutant }) => mutant.file === file),
    ),
  )
  const survivors = results.filter(survived)
  const lines = [
    ...survivors.map(({ mutant }) => describe(root, mutant)).sort(),
    '',
    head,
    ...rows,
    rowOf('all', results),
  ]
  return { text: lines.join('\n'), score: scoreOf(results) }
}

const columns = ['mutants', 'static', 'survived', 'score']
const head = ['file'.padEnd(60), ...columns.map((name) => name.padStart(9))].join('')

function rowOf(file: string, results: readonly Result[]): string {
  const count = results.filter(survived).length
  const figures = [results.length, results.filter(({ reached }) => !reached).length, count, scoreOf(results).toFixed(1)]
  return [file.padEnd(60), ...figures.map((figure) => String(figure).padStart(9))].join('')
}

function scoreOf(results: readonly Result[]): number {
  const reached = results.filter((result) => result.reached)
  return (reached.filter(({ found }) => found !== undefined).length / reached.length) * 100
}

function describe(root: string, { file, start, end, mutator, replacement }: Mutant): string {
  const lines = readFileSync(join(root, file), 'utf8')
    .split('\n')
    .slice(start.line, end.line + 1)
  const original = lines
    .map((line, n) => line.slice(n === 0 ? start.column : 0, n === lines.length - 1 ? end.column : undefined).trim())
    .join(' ')
  return `${file}:${start.line + 1}:${start.column + 1} ${mutator}: ${short(original)} → ${short(replacement)}`
}

function short(code: string): string {
  const line = code.replaceAll(/\s+/g, ' ')
  return line.length > 80 ? `${line.slice(0, 79)}…` : line
}

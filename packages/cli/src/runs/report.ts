import type { CommandContext } from '../command-context.ts'
import { exitCodes } from '../exit-codes.ts'
import { toLine } from '../print-run.ts'
import { visible } from '../printable.ts'
import { type Table, toText } from './table.ts'

/** Prints a value as JSON, or as its tables. */
export function print(value: object, tables: readonly Table[], json: boolean, { stdout }: CommandContext): number {
  stdout.write(json ? `${toLine(value)}\n` : tables.map(toText).join('\n'))
  return exitCodes.ok
}

/** Prints the result of a change as JSON, or as a sentence. */
export function report(
  value: object,
  text: string,
  { isDone, json }: { isDone: boolean; json: boolean },
  { stdout }: CommandContext,
): number {
  stdout.write(json ? `${toLine(value)}\n` : `${visible(text)}\n`)
  return isDone ? exitCodes.ok : exitCodes.failed
}

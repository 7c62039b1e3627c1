import { AlliumError } from '@allium/core'
import { nodeFiles } from '../report/node-files.ts'
import { checkCase, type EvalCase, maxCases } from './case.ts'

/**
 * Parses cases from JSON Lines: one case per line, `{ "input": …, "expected": … }`. Empty lines are skipped. An `id` is added to cases
 * without one, from the number of their line, so that the same line has the same id in each run.
 *
 * @param source the name of the file in error messages
 * @throws AlliumError `options.invalid` for the first wrong line, with `details.line`; for a line of more than a million characters, and
 * for more than 10,000 cases
 */
export function parseCases(jsonl: string, source = 'The cases'): EvalCase[] {
  const cases: EvalCase[] = []
  const lines = new Map<string, number>()
  for (const [index, text] of jsonl
    .replace(/^\uFEFF/, '')
    .split('\n')
    .entries()) {
    if (text.trim() === '') continue
    const line = index + 1
    const place = `${source}, line ${line},`
    const one = { id: `line-${line}`, ...parseLine(text, place, line) }
    const other = lines.get(one.id)
    if (other !== undefined) throw invalid(`${place} has the id "${one.id}" of line ${other}.`, line)
    lines.set(one.id, line)
    if (cases.push(one) > maxCases) throw invalid(`${place} is one more than the ${maxCases} cases of a file.`, line)
  }
  return cases
}

/**
 * Reads cases from a JSON Lines file, as {@link parseCases} does.
 *
 * @throws AlliumError `options.invalid`; the error of the file system
 */
export async function readCases(path: string): Promise<EvalCase[]> {
  return parseCases(await nodeFiles('readCases()').readFile(path, 'utf8'), path)
}

const maxLine = 1_000_000

function parseLine(text: string, place: string, line: number): EvalCase {
  if (text.length > maxLine) throw invalid(`${place} has ${text.length} characters. The maximum is ${maxLine}.`, line)
  let value: unknown
  try {
    value = JSON.parse(text)
  } catch (cause) {
    throw invalid(`${place} is not JSON. Write one case per line, as JSON without line breaks.`, line, cause)
  }
  try {
    checkCase(value, place)
  } catch (cause) {
    throw invalid((cause as Error).message, line, cause)
  }
  return value
}

function invalid(message: string, line: number, cause?: unknown): AlliumError {
  return new AlliumError('options.invalid', message, { cause, details: { line } })
}

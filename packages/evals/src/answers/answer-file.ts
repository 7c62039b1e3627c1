import { AlliumError } from '@allium/core'
import { nodeFiles } from '../report/node-files.ts'
import { isAnswer, maxAnswer, maxAnswers, type RecordedAnswer } from './answer.ts'

/** Reads a file of answers; undefined if it does not exist. @throws AlliumError `options.invalid`; the error of the file system */
export async function readAnswers(path: string): Promise<RecordedAnswer[] | undefined> {
  const text = await nodeFiles('openAnswers()')
    .readFile(path, 'utf8')
    .catch((error) => {
      if (error.code === 'ENOENT') return undefined
      throw error
    })
  return text === undefined ? undefined : parseAnswers(text, path)
}

/** Writes a file of answers, and creates its folder. Other processes see the old file or the new one. */
export async function writeAnswers(path: string, answers: readonly RecordedAnswer[]): Promise<void> {
  const { mkdir, rename, writeFile } = nodeFiles('openAnswers()')
  await mkdir(process.getBuiltinModule('node:path').dirname(path), { recursive: true })
  const draft = `${path}.${crypto.randomUUID()}.tmp`
  await writeFile(draft, answers.map((answer) => `${JSON.stringify(answer)}\n`).join(''))
  await rename(draft, path)
}

/** @throws AlliumError `options.invalid` for the first wrong line, with `details.line` */
function parseAnswers(jsonl: string, source: string): RecordedAnswer[] {
  const answers: RecordedAnswer[] = []
  for (const [index, text] of jsonl.split('\n').entries()) {
    if (text.trim() === '') continue
    answers.push(parseLine(text, source, index + 1))
    if (answers.length > maxAnswers) throw invalid(source, index + 1, `is one more than the ${maxAnswers} of a file`)
  }
  return answers
}

function parseLine(text: string, source: string, line: number): RecordedAnswer {
  if (text.length > maxAnswer)
    throw invalid(source, line, `has ${text.length} characters, and the maximum is ${maxAnswer}`)
  let value: unknown
  try {
    value = JSON.parse(text)
  } catch (cause) {
    throw invalid(source, line, 'is not JSON', cause)
  }
  if (!isAnswer(value)) throw invalid(source, line, 'is no recorded answer')
  return value
}

function invalid(source: string, line: number, what: string, cause?: unknown): AlliumError {
  return new AlliumError('options.invalid', `${source}, line ${line}, ${what}. Record the answers again.`, {
    cause,
    details: { line },
  })
}

import { type Answer, awaitAnswer, type RunHandle } from '../run/run-handle.ts'
import type { AnswerFile } from './result.ts'

interface Reader {
  readonly signal: AbortSignal
  progress(message: string): void
}

/** Waits for the answer of a run, reports its progress, and adds the files of the answer. */
export async function readRun(handle: RunHandle, { signal, progress }: Reader, files: AnswerFile[]): Promise<Answer> {
  const reported = report(handle, { signal, progress, files }).catch(() => {})
  const answer = await awaitAnswer(handle, signal)
  await reported
  return answer
}

async function report(handle: RunHandle, { signal, progress, files }: Reader & { files: AnswerFile[] }): Promise<void> {
  const entries = handle.entries(signal)
  let stepStart = files.length
  for (let entry = await entries.next(); entry !== undefined; entry = await entries.next()) {
    const event = entry.event as { type: string; path?: unknown; reasoning?: boolean } & AnswerFile
    if (event.type === 'step:start') progress(`Step ${(entry.event as { stepIndex: number }).stepIndex + 1}`)
    if (event.type === 'tool:start') progress(`Tool ${(entry.event as { name: string }).name}`)
    if (event.path !== undefined) continue
    if (event.type === 'step:start') stepStart = files.length
    if (event.type === 'model:reset') files.length = stepStart
    if (event.type === 'file' && event.reasoning !== true) files.push(event)
  }
}

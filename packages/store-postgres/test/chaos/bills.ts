import { appendFileSync, readFileSync } from 'node:fs'
import { estimateInputTokens, type Model, type Usage } from '@allium/core'
import { scriptedModel } from '@allium/testing'
import type { Job, Reach } from './scene.ts'

/** What became of one physical call, as it was when its process last wrote of it. */
export interface Bill {
  readonly key: string
  readonly call: string
  /** What it may use, which is held while it runs, in tokens. */
  readonly estimate: number
  /** What it has used; undefined where it never ended. */
  readonly used?: number
  /** Its process was killed, or stopped until another took over, before what it used was posted. */
  readonly isCut?: boolean | 'perhaps'
}

let calls = 0

/** A model that notes what it costs, apart from every ledger: one call for a tool, and one that answers. */
export function billedModel(job: Job, reach: Reach): Model {
  const model = scriptedModel([{ toolCalls: [{ name: 'pay', args: {} }] }, `Paid ${job.key}.`])
  return {
    id: model.id,
    async *stream(request) {
      const estimate = estimateInputTokens(request) + 1024
      const bill: Bill = { key: job.key, call: `${process.pid}:${++calls}`, estimate }
      note(job, bill)
      for await (const chunk of model.stream(request)) {
        if (chunk.type === 'finish') {
          note(job, { ...bill, used: tokensOf(chunk.usage) })
          await reach('model result')
        }
        yield chunk
      }
    },
  }
}

/** Written before the process ends, for a call that it will not post; `perhaps` if it may have been posted just before. */
export function noteCut({ bills }: Pick<Job, 'bills'>, isCut: true | 'perhaps'): void {
  const own = billsIn(bills).filter(({ call }) => call === `${process.pid}:${calls}`)
  for (const bill of own) note({ bills }, { ...bill, isCut })
}

function note({ bills }: Pick<Job, 'bills'>, bill: Bill): void {
  appendFileSync(bills, `${JSON.stringify(bill)}\n`)
}

/** Each call once, as it was last. */
export function billsIn(file: string): Bill[] {
  const lines = readFileSync(file, 'utf8').trim().split('\n').filter(Boolean)
  return [...new Map(lines.map((line) => JSON.parse(line) as Bill).map((bill) => [bill.call, bill])).values()]
}

export function tokensOf({ inputTokens = 0, outputTokens = 0 }: Partial<Usage> = {}): number {
  return inputTokens + outputTokens
}

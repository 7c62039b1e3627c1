import { describe, type Outcome } from '../outcome.ts'
import { firstOf, type Scenario } from '../scenario.ts'
import type { Reply } from '../server.ts'
import { callOf } from './calls.ts'
import { cutEverywhere } from './cuts.ts'

const text = 'Grüße 🧅'

/** How answers end: finish reasons, cuts, errors, statuses, aborts. */
export const ends: readonly Scenario[] = [
  {
    name: 'finish reasons',
    promise: 'Each finish reason of the provider has its meaning; a failure of the provider can be retried.',
    async run(lab) {
      const faults: string[] = []
      for (const { raw, means } of lab.format.finishes) {
        const outcome = await lab.ask([{ text, finish: raw }])
        const { error, finishReason } = outcome
        const isRight = means === 'failed' ? isTransient(outcome) : error === undefined && finishReason === means
        if (!isRight) faults.push(`${raw} is ${error === undefined ? finishReason : describe(outcome)}`)
      }
      return faults.length === 0 ? undefined : faults.join('; ')
    },
  },
  {
    name: 'cut',
    promise: 'An answer that ends too early is model.truncated, and no tool of it runs.',
    run: (lab) => cutEverywhere(lab, 'end', ({ error }) => error?.code === 'model.truncated'),
  },
  {
    name: 'cut call',
    promise: 'The same for an answer that is one call.',
    run: (lab) =>
      cutEverywhere(lab, 'end', ({ error }) => error?.code === 'model.truncated', { calls: [callOf(lab.format)] }),
  },
  {
    name: 'socket broken',
    promise: 'An answer whose connection breaks fails, and no tool of it runs.',
    run: (lab) => cutEverywhere(lab, 'break', ({ error }) => error !== undefined && error.status === undefined),
  },
  {
    name: 'error in the stream',
    promise:
      'An error inside of a stream fails with the message of the provider, and with a status if the provider tells it.',
    async run(lab) {
      const faults: string[] = []
      for (const { form, event, status } of lab.format.errors)
        for (const at of [0, 2]) {
          const events = [...lab.format.events({ text }).slice(0, at), event]
          const outcome = await lab.ask([{ events }])
          const { error } = outcome
          const isRight = error?.message.includes('boom') === true && (!status || Number(error.status) >= 400)
          if (!isRight) faults.push(`${form} after ${at}: ${describe(outcome)}`)
        }
      return faults.length === 0 ? undefined : faults.join('; ')
    },
  },
  {
    name: 'error status',
    promise: 'A 429 and a 500 fail with message and status after one request.',
    async run(lab) {
      for (const status of [429, 500]) {
        const outcome = await lab.ask([{ status, headers: { 'retry-after': '7' } }])
        const { error, script } = outcome
        const fault = firstOf(
          [error?.status !== status || !error.message.includes('boom'), describe(outcome)],
          [script.requests.length !== 1, `${script.requests.length} requests`],
        )
        if (fault !== undefined) return `${status}: ${fault}`
      }
    },
  },
  {
    name: 'abort',
    promise: 'An abort ends the run and closes the connection.',
    async run(lab) {
      const abort = new AbortController()
      const events = lab.format.events({ text })
      const reply: Reply = { events: events.slice(0, events.length - 1 - lab.format.tail), ending: 'stall' }
      const outcome = await lab.ask([reply], {
        options: { signal: abort.signal },
        onRequest: () => setTimeout(() => abort.abort(), 50),
      })
      const isClosed = await Promise.race([outcome.script.closed.then(() => true), after(5_000)])
      return firstOf(
        [outcome.error?.name !== 'AbortError', describe(outcome)],
        [!isClosed, 'the connection stays open'],
      )
    },
  },
]

/** Whether `model.retry` repeats the call. */
function isTransient({ error }: Outcome): boolean {
  const { code, status, isRetryable } = (error ?? {}) as Error & {
    code?: string
    status?: number
    isRetryable?: boolean
  }
  return code === 'model.truncated' || isRetryable === true || Number(status) === 429 || Number(status) >= 500
}

async function after(ms: number): Promise<false> {
  await new Promise((resolve) => setTimeout(resolve, ms).unref())
  return false
}

import { content } from '../../../guard/src/content/content.ts'
import { budget } from '../../../guard/src/limits/budget.ts'
import { timeout } from '../../../guard/src/limits/timeout.ts'
import { pii } from '../../../guard/src/pii/pii.ts'
import { output } from '../../../guard/src/rules/output.ts'
import { fallback } from '../../../model/src/fallback.ts'
import { retry } from '../../../model/src/retry.ts'
import { onion } from '../../../observe/src/onion.ts'
import { usage } from '../../../observe/src/usage.ts'
import { retry as toolsRetry } from '../../../tools/src/retry.ts'
import type { Middleware } from '../../src/index.ts'
import { type Case, type ModelCallPlan, type ModelPlan, type ToolCallPlan, ticks } from './case.ts'
import type { Difference } from './compare.ts'
import { random } from './noise.ts'
import { actual } from './world.ts'

/**
 * The real layers, as an application stacks them: `fallback > retry? > timeout > others` around models, and
 * `retry > timeout > others` around a tool. The others change nothing here, but most of them look at every chunk.
 */
export interface Stack {
  readonly plan: Case
  /** Coarse: what one model call, and one tool call, may take. */
  readonly limit: number
  readonly attempts: number
  readonly others: readonly (keyof typeof others)[]
}

const unit = 2 ** 30
const free = { input: 0, output: 0 }

const others = {
  content: lazily(() => content({ keywords: ['forbidden'] })),
  pii: lazily(() => pii()),
  output: lazily(() => output({ check: async () => true })),
  budget: lazily(() => budget({ limit: 1e12, unit: 'tokens' })),
  // With the public list it would load a library, and time would not wait for that.
  usage: lazily(() => usage({ prices: { m0: free, m1: free, m2: free } })),
  onion: lazily(() => onion()),
  hold: lazily(
    (): Middleware => ({
      name: 'hold',
      model(ctx, next) {
        ctx.hold()
        return next()
      },
    }),
  ),
  pipe: lazily(
    (): Middleware => ({
      name: 'pipe',
      model(ctx, next) {
        ctx.pipe((chunks) => chunks)
        return next()
      },
    }),
  ),
  chunks: lazily(
    (): Middleware => ({
      name: 'chunks',
      model(ctx, next) {
        ctx.onChunk((chunk) => chunk)
        return next()
      },
    }),
  ),
  mark: lazily(
    (): Middleware => ({
      name: 'mark',
      model(ctx, next) {
        ctx.addMessage({ role: 'user', content: '#mark' })
        return next()
      },
      tool(ctx, next) {
        ctx.modifyArgs({ marks: [...ctx.args.marks, 'mark'] })
        return next()
      },
    }),
  ),
  slow: lazily(
    (): Middleware => ({
      name: 'slow',
      model: (_, next) => slowly(next),
      tool: (_, next) => slowly(next),
    }),
  ),
}

async function slowly<R>(next: () => Promise<R>): Promise<R> {
  for (let i = 0; i < 5; i++) await undefined
  try {
    return await next()
  } finally {
    for (let i = 0; i < 9; i++) await undefined
  }
}

/** Layers hold nothing of a run, so one of each serves all cases. */
function lazily<T>(make: () => T): () => T {
  let made: T | undefined
  return () => (made ??= make())
}

export function stackOf(seed: number): Stack {
  const next = random(seed)
  const int = (from: number, to: number) => from + Math.floor(next() * (to - from + 1))
  const pick = <T>(all: readonly T[]) => all[int(0, all.length - 1)] as T
  const call = (end: ModelCallPlan['end']): ModelCallPlan => ({
    after: int(1, 8),
    chunks: ['one ', 'two ', 'three'].slice(0, int(0, 3)),
    gap: int(1, 3),
    end,
  })
  const model = (name: string): ModelPlan => {
    if (name === 'm2') return { calls: [{ after: 1, chunks: ['the last'], gap: 1, end: 'finish' }] }
    const ends: ModelCallPlan['end'][] = ['finish', 'throw', 'cut', 'hang']
    const how = name === 'm1' ? pick<'found' | 'never' | 'fails'>(['found', 'found', 'never', 'fails']) : 'found'
    const calls = [call(pick(ends)), call(pick(ends))]
    return name !== 'm0' && next() < 0.5 ? { found: { after: int(1, 4), how }, calls } : { calls }
  }
  const asks = next() < 0.4
  const models = { m0: model('m0'), m1: model('m1'), m2: model('m2') }
  const last: ModelCallPlan = { after: 1, chunks: ['done'], gap: 1, end: 'finish' }
  const asking: ModelCallPlan = { after: 1, chunks: [], gap: 1, end: 'finish', asks: ['a'] }
  const toolCall = (): ToolCallPlan => ({
    takes: int(1, 30),
    end: pick(['value', 'value', 'throw', 'hang']),
    ...(next() < 0.5 && { deaf: true }),
  })
  const names = (Object.keys(others) as (keyof typeof others)[]).filter(() => next() < 0.4)
  return {
    plan: {
      turn: [],
      model: [],
      tool: [],
      models: asks ? { ...models, m0: { calls: [asking, last] } } : models,
      tools: asks ? { a: { calls: [toolCall(), toolCall(), { takes: 1, end: 'value' }] } } : {},
      reader: pick(['none', 'all']),
    },
    limit: int(5, 20),
    attempts: int(1, 2),
    others: names.sort(() => next() - 0.5),
  }
}

/** What is wrong with a stack: calls, answer, stream and the next turn are those that its models and tools allow. */
export async function stackDifferences(stack: Stack, noise = 1): Promise<Difference[]> {
  const { plan, limit, attempts } = stack
  const layers = [
    fallback({ models: ['m1', 'm2'].map((name) => name) }),
    ...(attempts > 1 ? [retry({ attempts, delay: unit, jitter: 0 })] : []),
    toolsRetry({ tools: ['a'], attempts: 3, delay: unit, jitter: 0, when: () => true }),
    timeout({ model: limit * unit, tool: limit * unit }),
    ...stack.others.map((name) => others[name]()),
  ]
  const { outcome, broken } = await actual(plan, noise, { layers })
  const found: Difference[] = broken.map((what) => ({ aspect: 'broken', expected: 'what always holds', actual: what }))
  if (outcome === undefined) return found
  const wanted = foreseen(stack)
  for (const aspect of ['status', 'text', 'shown', 'calls', 'usage'] as const)
    if (JSON.stringify(outcome[aspect]) !== JSON.stringify(wanted[aspect]))
      found.push({ aspect, expected: wanted[aspect], actual: outcome[aspect] })
  return found
}

/** What the models and tools of a stack allow: nothing here knows how layers work. */
function foreseen(stack: Stack) {
  const mark = stack.others.includes('mark') ? 'mark' : ''
  const calls: string[] = []
  const text = stack.plan.tools.a === undefined ? answer(stack, calls, mark) : answerWithTool(stack, calls, mark)
  const usage = calls.filter((line) => line.startsWith('m')).length
  return { status: 'completed', text, shown: text, calls, usage }
}

function answerWithTool({ plan, limit }: Stack, calls: string[], mark: string): string {
  calls.push(`m0 ${mark}`)
  for (const [n, { takes, end }] of (plan.tools.a?.calls ?? []).entries()) {
    calls.push(`a ${mark}`)
    if (end === 'value' && ticks(takes, `a tm0-0-0 ${n}`) < limit * unit) break
  }
  calls.push(`m0 ${mark}`)
  return 'done'
}

/** The first whole answer, in the order of models and attempts. */
function answer({ plan, limit, attempts }: Stack, calls: string[], mark: string): string {
  for (const name of ['m0', 'm1', 'm2']) {
    const { found, calls: scripts } = plan.models[name] as ModelPlan
    for (let attempt = 0, n = 0; attempt < attempts; attempt++) {
      const search = found === undefined ? 0 : ticks(found.after, `found ${name} ${attempt}`)
      // What is never found is late; what cannot be found is no passing failure.
      if (found?.how === 'never') continue
      if (found?.how === 'fails') break
      const { after, gap, chunks, end } = scripts[Math.min(n, scripts.length - 1)] as ModelCallPlan
      calls.push(`${name} ${mark}`)
      const gaps = chunks.map((_, i) => ticks(gap, `${name} ${n} ${i + 1}`))
      const takes = gaps.reduce((sum, one) => sum + one, search + ticks(after, `${name} ${n} 0`))
      n++
      if (end === 'hang' || takes >= limit * unit) continue
      if (end === 'finish') return chunks.join('')
      if (end === 'throw') break
    }
  }
  return ''
}

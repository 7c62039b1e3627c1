import { estimateInputTokens, type Model, type ModelChunk, type ModelRequest, type Usage } from '@allium/core'
import type { CaseClock } from '../../../core/test/explore/clock.ts'
import type { Plan, Script } from './plan.ts'

/** What a provider knows of one call. */
interface Entry {
  readonly model: string
  readonly input: number
  chunks: number
  chars: number
  told: Partial<Usage> | undefined
}

/** Models that do what a plan says, and keep books of their own. */
export class Books {
  readonly #entries: Entry[] = []
  readonly #plan: Plan
  readonly #clock: CaseClock

  constructor(plan: Plan, clock: CaseClock) {
    this.#plan = plan
    this.#clock = clock
  }

  model(name: string): Model {
    let calls = 0
    return {
      id: name,
      stream: (request) => {
        const scripts = this.#plan.models[name] as readonly Script[]
        const n = calls++
        const entry: Entry = { model: name, input: estimateInputTokens(request), chunks: 0, chars: 0, told: undefined }
        this.#entries.push(entry)
        // What never ends by itself would call tools for ever.
        const script = scripts[n] ?? { ...(scripts[0] as Script), end: 'finish' as const }
        return this.#answer(request, script, entry, `${name}-${n}`)
      },
    }
  }

  /** What all calls have used, or those of one model. */
  usage(model?: string): Usage {
    const total: Usage = { inputTokens: 0, outputTokens: 0, calls: 0 }
    for (const entry of this.#entries) if (model === undefined || entry.model === model) add(total, usageOf(entry))
    return total
  }
  get models(): string[] {
    return [...new Set(this.#entries.map(({ model }) => model))]
  }

  async *#answer({ signal }: ModelRequest, script: Script, entry: Entry, id: string): AsyncGenerator<ModelChunk> {
    await this.#clock.wait(script.after, signal)
    const say = function* (chunk: ModelChunk): Generator<ModelChunk> {
      if (signal.aborted) throw signal.reason
      entry.chunks++
      if ('delta' in chunk) entry.chars += chunk.delta.length
      yield chunk
    }
    for (const [i, delta] of script.chunks.entries()) {
      yield* say({ type: i === 0 && delta === 'x' ? 'reasoning-delta' : 'text-delta', delta })
      await this.#clock.wait(script.gap, signal)
    }
    if (script.end === 'deaf') await new Promise(() => {})
    if (script.end === 'hang') await this.#clock.wait(1_000_000, signal)
    if (script.end === 'throw') throw Object.assign(new Error('down'), { status: 503 })
    if (script.end === 'ask' || script.end === 'delegate') {
      yield* say({ type: 'tool-input-start', callId: id, name: script.end === 'ask' ? 'work' : 'child' })
      yield* say({ type: 'tool-input-delta', callId: id, delta: '{"task":"go"}' })
      await this.#clock.wait(script.gap, signal)
    }
    if (script.end === 'cut') return
    if (script.end !== 'finish') yield* say({ type: 'tool-input-end', callId: id })
    entry.told = told[script.tells]
    yield { type: 'finish', reason: script.end === 'finish' ? 'stop' : 'tool-calls', usage: entry.told }
  }
}

const told: Readonly<Record<Script['tells'], Partial<Usage>>> = {
  all: { inputTokens: 30, outputTokens: 7 },
  input: { inputTokens: 30 },
  output: { outputTokens: 7 },
  none: {},
  zero: { inputTokens: 0, outputTokens: 0 },
  caches: { inputTokens: 40, outputTokens: 8, cachedInputTokens: 20, cacheWriteTokens: 5, reasoningTokens: 3 },
}

/** As the rule is: told counts as told, what is left out is estimated, nothing where nothing came. */
function usageOf({ input, chunks, chars, told }: Entry): Usage {
  if (told === undefined && chunks === 0) return { inputTokens: 0, outputTokens: 0, calls: 1 }
  const said = Math.ceil(chars / 4)
  const outputTokens = told?.outputTokens || said
  const usage: Usage = { ...told, inputTokens: told?.inputTokens || input, outputTokens, calls: 1 }
  if (!told?.inputTokens || (!told.outputTokens && said > 0)) usage.estimated = true
  return usage
}

function add(total: Usage, { calls, estimated, ...counts }: Usage): void {
  total.calls += calls
  if (estimated) total.estimated = true
  for (const [key, value] of Object.entries(counts) as [keyof typeof counts, number][])
    total[key] = (total[key] ?? 0) + value
}

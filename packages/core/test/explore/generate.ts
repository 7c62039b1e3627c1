import type {
  Act,
  Case,
  LayerPlan,
  MapKind,
  ModelCallPlan,
  ModelPlan,
  PipeKind,
  ToolCallPlan,
  ToolPlan,
} from './case.ts'
import { random } from './noise.ts'

/** What a case may have in it, so that a suite can look at one thing after the other. */
export interface Menu {
  /** Deadlines, what hangs, what is late, aborts. */
  readonly late: boolean
  readonly streams: boolean
  readonly tools: boolean
  readonly turns: boolean
}

export const everything: Menu = { late: true, streams: true, tools: true, turns: true }

/** One case for a seed. */
export function generate(seed: number, menu: Menu = everything): Case {
  return new Maker(random(Math.imul(seed, 0x9e3779b1) ^ 0x51ed270b), menu).make()
}

const models = ['m0', 'm1', 'm2']

class Maker {
  /** Something may never come to its end. */
  hangs = false
  constructor(
    readonly next: () => number,
    readonly menu: Menu,
  ) {}

  make(): Case {
    const { menu } = this
    const tools = menu.tools && this.chance(0.5)
    const model = this.layers('model', tools ? 2 : 3)
    const plan: Case = {
      turn: menu.turns && this.chance(0.5) ? this.layers('turn', this.chance(0.2) ? 3 : 2) : [],
      model,
      tool: tools ? this.layers('tool', 2) : [],
      models: Object.fromEntries(models.map((name) => [name, this.model(name, tools)])),
      tools: tools ? { a: this.tool(), b: this.tool() } : {},
      reader: this.reader(),
      ...(tools && this.chance(0.3) && { toolConcurrency: 1 }),
      ...(menu.streams && this.chance(0.1) && { onRetryAfterOutput: 'fail' as const }),
    }
    return this.withAbort(plan)
  }

  reader(): Case['reader'] {
    if (this.chance(0.9)) return this.pick(['none', 'all'])
    return this.chance(0.5) ? { leaves: this.int(1, 4) } : { slow: this.int(1, 6) }
  }

  /** Someone outside ends what would not end: whatever hangs, hangs until then. */
  withAbort(plan: Case): Case {
    if (!this.menu.late) return plan
    return this.hangs || this.chance(0.15) ? { ...plan, abortAt: this.chance(0.5) ? 200 : this.int(1, 30) } : plan
  }

  layers(scope: 'turn' | 'model' | 'tool', most: number): LayerPlan[] {
    return Array.from({ length: this.int(scope === 'model' ? 1 : 0, most) }, (_, i) => this.layer(scope, i))
  }

  layer(scope: 'turn' | 'model' | 'tool', i: number): LayerPlan {
    const reenters = scope !== 'turn' && this.chance(0.2)
    const acts = [...this.verbs(scope), ...this.some(scope, 2), ...this.passing(scope), ...this.some(scope, 1)]
    if (this.chance(0.25)) acts.push({ do: 'return', what: this.pick(['own', 'append', 'rewrite', 'nothing']) })
    const answers = scope === 'turn' && this.chance(0.4)
    if (answers) acts.push({ do: 'output', what: this.pick(['own', 'append']) })
    const all = scope === 'tool' ? settledFirst(acts) : acts
    return { name: `${scope}${i}`, ...(reenters && { reenters: true }), acts: all }
  }

  verbs(scope: string): Act[] {
    if (!this.menu.streams || scope === 'tool' || !this.chance(0.45)) return []
    const what = this.int(0, 2)
    if (what === 0) return [{ do: 'hold' }]
    if (what === 1) return [{ do: 'map', how: this.pick<MapKind>(['double', 'drop', 'star']) }]
    return [{ do: 'pipe', how: this.pick<PipeKind>(['pass', 'pairs', 'brackets', 'verdict', 'few']) }]
  }

  /** The acts around next(): passing on, retrying, falling back, deadlines, repairs, skips. */
  passing(scope: string): Act[] {
    const kind = this.int(0, scope === 'turn' ? 4 : 8)
    if (kind <= 1) return [this.nextAct(scope)]
    if (kind === 2) return [{ do: 'try', acts: [this.nextAct(scope)], finally: this.some(scope, 2) }]
    if (kind === 3) return [{ do: 'try', acts: [this.nextAct(scope)], catch: this.some(scope, 2) }]
    if (kind === 4) return this.chance(0.4) ? this.some(scope, 2) : [this.nextAct(scope)]
    if (kind === 5) return [this.nextAct(scope), ...this.some(scope, 1), this.nextAct(scope)]
    const again: Act[] = scope === 'model' && this.chance(0.6) ? [{ do: 'use', model: this.pick(models) }] : []
    const retry: Act = {
      do: 'try',
      acts: [this.nextAct(scope)],
      catch: [...this.some(scope, 1), ...again, this.nextAct(scope)],
    }
    if (kind < 8) return [retry]
    return [{ do: 'try', acts: [retry], catch: [...this.some(scope, 1), this.nextAct(scope)] }]
  }

  nextAct(scope: string): Act {
    const late = this.menu.late
    const within = late && this.chance(0.35) ? this.int(this.chance(0.1) ? 0 : 1, 12) : undefined
    const meanwhile = late && this.chance(0.2) ? [this.wait(), ...this.some(scope, 2).filter(beside)] : undefined
    return { do: 'next', ...(within !== undefined && { within }), ...(meanwhile !== undefined && { meanwhile }) }
  }

  some(scope: string, most: number): Act[] {
    return Array.from({ length: this.int(0, most) }, () => this.act(scope))
  }

  act(scope: string): Act {
    const late = this.menu.late
    const n = this.next()
    if (n < 0.22) return this.wait()
    if (n < 0.4) return scope === 'turn' ? { do: 'state' } : { do: 'mark' }
    if (n < 0.5) return { do: 'state' }
    if (n < 0.58) return { do: 'emit' }
    if (n < 0.64)
      return { do: 'once', key: this.pick(['x', 'y']), takes: this.int(1, 4), ...(this.chance(0.3) && { fails: 1 }) }
    if (n < 0.7) return { do: 'throw' }
    if (n < 0.73) return { do: 'stop' }
    if (n < 0.76) return { do: 'block' }
    if (n < 0.78) return { do: 'abort' }
    if (n < 0.83 && scope !== 'turn') return { do: 'skip' }
    if (n < 0.86 && scope === 'tool') return { do: 'deny' }
    if (n < 0.9 && scope === 'model') return { do: 'use', model: this.pick(models) }
    if (n < 0.96 && late)
      return {
        do: 'later',
        after: this.int(1, 20),
        acts: [this.act(scope), this.act(scope)].filter(({ do: what }) => what !== 'later'),
      }
    return this.wait()
  }

  wait(): Act {
    if (this.menu.late && this.chance(0.02)) {
      this.hangs = true
      return { do: 'wait', for: 500, deaf: true }
    }
    return { do: 'wait', for: this.int(1, 8), ...(this.menu.late && this.chance(0.3) && { deaf: true }) }
  }

  model(name: string, tools: boolean): ModelPlan {
    const calls = Array.from({ length: this.int(1, 3) }, () => this.modelCall(tools))
    // What goes on asking for tools would never end.
    calls.push({ after: 1, chunks: ['z'], gap: 1, end: 'finish' })
    const found = name !== 'm0' && this.menu.late && this.chance(0.3)
    if (!found) return { calls }
    const how = this.pick<'found' | 'never' | 'fails'>(['found', 'found', 'found', 'never', 'fails'])
    if (how === 'never') this.hangs = true
    return { found: { after: this.int(1, 6), how }, calls }
  }

  modelCall(tools: boolean): ModelCallPlan {
    const ends: ModelCallPlan['end'][] = ['finish', 'finish', 'finish', 'throw', 'cut']
    if (this.menu.late) ends.push('hang')
    const end = this.pick(ends)
    if (end === 'hang') this.hangs = true
    const chunks = ['ab', 'c', 'def', 'gh', 'i'].slice(0, this.int(0, 4))
    const asks =
      tools && end === 'finish' && this.chance(0.6) ? this.pick([['a'], ['b'], ['a', 'b'], ['a', 'a']]) : undefined
    return { after: this.int(1, 6), chunks, gap: this.int(1, 4), end, ...(asks !== undefined && { asks }) }
  }

  tool(): ToolPlan {
    const calls = Array.from({ length: this.int(1, 2) }, (): ToolCallPlan => {
      const ends: ToolCallPlan['end'][] = this.menu.late
        ? ['value', 'value', 'throw', 'hang']
        : ['value', 'value', 'throw']
      return { takes: this.int(1, 9), end: this.pick(ends), ...(this.menu.late && this.chance(0.3) && { deaf: true }) }
    })
    return { calls, ...(this.menu.late && this.chance(0.3) && { timeout: this.int(2, 9) }) }
  }

  chance(p: number): boolean {
    return this.next() < p
  }
  int(from: number, to: number): number {
    return from + Math.floor(this.next() * (to - from + 1))
  }
  pick<T>(all: readonly T[]): T {
    return all[Math.floor(this.next() * all.length)] as T
  }
}

/** Tools of one step begin at one instant: what decides over the others waits, so that their order is no chance. */
function settledFirst(acts: readonly Act[]): Act[] {
  return [{ do: 'wait', for: 1 }, ...acts]
}

/** A skip while its own next() runs: whether adoption overwrites it, or it sticks, is left open. */
function beside({ do: what }: Act): boolean {
  return what !== 'later' && what !== 'skip'
}

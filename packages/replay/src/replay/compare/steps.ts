import type { RecordedDecision } from '../../recorded-turn.ts'

/** Names the steps of a run for people: `model 0`, `tool c1`, `end`; those of a sub-agent begin with the ids of the calls. */
export class StepNames {
  readonly #run: string

  constructor(run: string) {
    this.#run = run
  }

  model(turnId: string, call: number): string {
    return `${this.#path(turnId)}model ${call}`
  }

  tool(turnId: string, callId: string): string {
    return `${this.#path(turnId)}tool ${callId}`
  }

  end(turnId: string): string {
    return `${this.#path(turnId)}end`
  }

  decision({ turnId, scope, call }: Pick<RecordedDecision, 'turnId' | 'scope' | 'call'>): string {
    if (scope === 'model') return this.model(turnId, Number(call))
    return scope === 'tool' ? this.tool(turnId, String(call)) : this.end(turnId)
  }

  /** A step without a decision of its own, as in a divergence. */
  step(turnId: string, call: string | number | undefined): string {
    if (call === undefined) return this.end(turnId)
    return typeof call === 'number' ? this.model(turnId, call) : this.tool(turnId, call)
  }

  /** `<run>/c1:0` is the turn of the sub-agent that the call c1 runs. */
  #path(turnId: string): string {
    const inner = turnId.slice(this.#run.length)
    if (!inner.startsWith('/')) return ''
    return `${inner
      .slice(1)
      .split('/')
      .map((part) => part.replace(/:\d+$/, ''))
      .join('/')}/`
  }
}

import type { Message, ModelRequest, Session } from '@allium/core'
import { leaks } from '../../matchers/leaks.ts'
import type { ScriptedStep } from '../../step.ts'
import { checkEqual, Nonconformance } from '../check.ts'
import { type Bench, makeBench } from './bench.ts'
import type { LayerUnderTest } from './layer-under-test.ts'
import { completed, finish, type TurnRun } from './run.ts'
import { macrotask } from './unhandled.ts'

const names = ['acme', 'globex'] as const
const secretOf = (tenant: unknown) => `secret-of-${tenant}-4711`

/** Cases: two tenants with the same agent, session id and question, and different answers. */
export const tenantCases = {
  async 'keeps tenants apart'(options: LayerUnderTest) {
    const bench = secretBench(options)
    const [acme, globex] = names.map((tenant) => new Tenant(bench, tenant)) as [Tenant, Tenant]
    await Promise.all([acme.runTurns(), globex.runTurns()])
    await acme.runTurns()
    await globex.runTurns()
    acme.check(secretOf('globex'))
    globex.check(secretOf('acme'))
  },

  async 'keeps the data of a session private while other sessions run'(options: LayerUnderTest) {
    const shared = secretBench(options)
    const [acme, globex] = names.map((tenant) => new Tenant(shared, tenant)) as [Tenant, Tenant]
    await Promise.all([acme.runTurns(), globex.runTurns()])
    await globex.runTurns()
    await acme.runTurns()
    const loneTenant = new Tenant(secretBench(options), 'acme')
    await loneTenant.runTurns()
    await loneTenant.runTurns()
    checkEqual(acme.sum(), loneTenant.sum(), 'Two concurrent sessions have the same results as each alone')
  },
}

/** One tenant's session, and everything that can be observed of it. */
class Tenant {
  readonly session: Session
  readonly #runsSeen: TurnRun[] = []

  constructor(
    readonly bench: Bench,
    readonly tenant: string,
  ) {
    this.session = bench.session({ tenant })
  }

  async runTurns(): Promise<void> {
    const end = await finish(this.session.run('What is my balance?'), this.bench, true)
    const ran: TurnRun = { ...end, state: { ...this.session.state }, history: this.#history() }
    completed(ran, `The run of ${this.tenant}`)
    this.#runsSeen.push(ran)
  }

  check(secret: string): void {
    const { session } = this
    const sent = this.bench.model.requests.filter(({ principal }) => tenantIn(principal) === this.tenant)
    const found = leaks({ seen: this.#runsSeen, snapshot: session.snapshot(), sent }, secret)
    if (found.length > 0)
      throw new Nonconformance(
        `Tenant "${this.tenant}" can read the data of another tenant, in ${found[0]}. Keep the data of a layer in ctx.state, or under a key that contains the tenant.`,
      )
  }

  sum() {
    const sent = this.bench.model.requests.filter(({ principal }) => tenantIn(principal) === this.tenant)
    const texts = this.#runsSeen.map(({ result }) => result?.text)
    return {
      texts,
      state: { ...this.session.state },
      history: this.#history(),
      sent: sent.map(({ messages }) => messages),
    }
  }

  #history(): readonly Message[] {
    return this.session.snapshot().history
  }
}

function secretBench(options: LayerUnderTest): Bench {
  const step = async ({ principal, messages }: ModelRequest): Promise<ScriptedStep> => {
    await macrotask()
    if (messages.at(-1)?.role === 'tool') return `Your balance is ${secretOf(tenantIn(principal))}.`
    const callId = `call-${messages.length}`
    return { toolCalls: [{ name: 'work', callId }] }
  }
  return makeBench(options, {
    steps: Array.from({ length: 100 }, () => step as never),
    async work(_, { principal }) {
      await macrotask()
      return `found ${secretOf(tenantIn(principal))}`
    },
  })
}

function tenantIn(principal: unknown): unknown {
  return (principal as { tenantId?: unknown } | undefined)?.tenantId
}

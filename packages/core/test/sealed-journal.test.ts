import { describe, expect, it } from 'vitest'
import { memoryJournal, type Seals, sealedJournal } from '../../store/src/journal.ts'
import { scriptedModel } from '../../testing/src/index.ts'
import { Agent, type Journal, type Middleware } from '../src/index.ts'
import { tool } from './kit.ts'

/** XOR with the place in front: what was moved does not open. */
const seals: Seals = {
  seal: (bytes, { step }) => flip(new TextEncoder().encode(`${step}\n${new TextDecoder().decode(bytes)}`)),
  open(bytes, { step }) {
    const [at, ...rest] = new TextDecoder().decode(flip(bytes)).split('\n')
    if (at !== step) throw new Error(`sealed for ${at}, opened for ${step}`)
    return new TextEncoder().encode(rest.join('\n'))
  },
}
const flip = (bytes: Uint8Array) => bytes.map((byte) => byte ^ 0x5a)

/** Notes all that a journal is told, errors included. */
function spied(inner: Journal, told: unknown[]): Journal {
  return {
    async step(id, work, emit) {
      const result = await inner.step(
        id,
        async (keep) => {
          try {
            return await work((item) => {
              told.push(item)
              return keep(item)
            })
          } catch (error) {
            told.push(String(error), { ...(error as object) })
            throw error
          }
        },
        emit,
      )
      told.push(result)
      return result
    },
  }
}

const blocks: Middleware = {
  name: 'blocks',
  async model(ctx, next) {
    ctx.hold()
    const response = await next()
    return response.text.includes('secret') ? ctx.block('No.') : response
  },
}

describe('sealedJournal', () => {
  const boot = (journal: Journal, counts: string[]) => {
    const steps = [{ text: 'Look.', toolCalls: [{ name: 'work', callId: 'c' }] }, 'A secret.']
    const model = scriptedModel(steps)
    const work = tool('work', () => ({
      ran: counts.push('work'),
      when: new Date(0),
      from: 'the secret file',
      bytes: Uint8Array.of(1),
    }))
    const agent = new Agent({ model, tools: [work], journal, ids: () => 'fixed' }).use(blocks)
    return { agent, model }
  }

  it('shows the journal inside nothing of what a verdict withheld, and replays it', async () => {
    const told: unknown[] = []
    const counts: string[] = []
    const inner = memoryJournal()
    const first = await boot(sealedJournal(spied(inner, told), seals), counts)
      .agent.session({ id: 's' })
      .run('go')
    expect(first.status).toBe('blocked')
    expect(told.length).toBeGreaterThan(5)
    expect(told.every((one) => one instanceof Uint8Array)).toBe(true)
    expect(told.map((one) => new TextDecoder().decode(one as Uint8Array)).join()).not.toContain('secret')

    const again = boot(sealedJournal(inner.reopen(), seals), counts)
    const second = await again.agent.session({ id: 's' }).run('go')
    expect([second.status, again.model.calls, counts.length]).toEqual(['blocked', 0, 1])
    expect(second.toolCalls[0]?.result).toEqual(first.toolCalls[0]?.result)
  })

  it('seals what a step throws, which a replay throws with its name, code and status', async () => {
    const told: unknown[] = []
    const inner = memoryJournal()
    const failing = Object.assign(new Error('the secret key is wrong'), { status: 401 })
    const thrown = async (journal: Journal) =>
      journal
        .step(
          'a',
          () => Promise.reject(failing),
          () => {},
        )
        .then(undefined, (error) => error)
    expect(await thrown(sealedJournal(spied(inner, told), seals))).toBe(failing)
    expect(JSON.stringify(told)).not.toContain('secret')
    expect(await thrown(sealedJournal(inner.reopen(), seals))).toMatchObject({ message: failing.message, status: 401 })
  })

  it('gives values back as they were, odd keys and numbers included', async () => {
    const inner = memoryJournal()
    const value = {
      $map: [1],
      n: [-0, Number.NaN, 2n ** 70n],
      m: new Map([['k', new Set([1])]]),
      url: new URL('https://a.b/'),
    }
    const step = (journal: Journal) =>
      journal.step(
        'a',
        () => value,
        () => {},
      )
    await step(sealedJournal(inner, seals))
    expect(await step(sealedJournal(inner.reopen(), seals))).toEqual(value)
  })

  it('opens nothing that stands in another place', async () => {
    const inner = memoryJournal()
    await sealedJournal(inner, seals).step(
      'a',
      () => 'x',
      () => {},
    )
    const moved: Journal = { step: (_, work, emit) => inner.reopen().step('a', work, emit) }
    await expect(
      sealedJournal(moved, seals).step(
        'b',
        () => 'y',
        () => {},
      ),
    ).rejects.toThrow('sealed for a#end')
  })
})

import { describe, expect, it } from 'vitest'
import { UniqueCallIds } from '../src/model/scope/unique-call-ids.ts'
import { Assembly } from '../src/stream/assembly.ts'
import { results, tool, traffic, turn } from './kit.ts'

const ids = async (...given: string[]) => {
  const calls = given.map((callId) => ({ name: 'work', callId }))
  const { session, error } = await turn([{ toolCalls: calls }, 'done'], [], { tools: [tool('work')] })
  expect(error).toBeUndefined()
  return traffic(session.history).calls
}

describe('ids of tool calls', () => {
  it('stay as the provider gives them where they can', async () => {
    const sound = ['call_1', 'toolu_01A-b', 'functions.get:0', 'x'.repeat(200), 'ü']
    expect(await ids(...sound)).toEqual(sound)
  })

  it('are named anew where they repeat, are empty, lead into a sub-agent, or name a part of every object', async () => {
    expect(await ids('c', 'c', 'c', '', '', 'o1/p1', '__proto__', 'constructor')).toEqual([
      ...['c', 'c_2', 'c_3', 'call_2', 'call_3', 'o1_p1_2', '__proto___2', 'constructor_2'],
    ])
  })

  it('are named anew within what every provider takes: 64 letters, digits, _ and -', async () => {
    const odd = ['functions.get:0', 'ü', 'x'.repeat(100), `${'y'.repeat(70)}/z`, 'a/b/c']
    const named = await ids(...odd, ...odd)
    expect(new Set(named).size).toBe(named.length)
    for (const id of named.filter((id) => !odd.includes(id))) expect(id).toMatch(/^[a-zA-Z0-9_-]{1,64}$/)
  })

  it('are free also where the new name is one that the provider gave', async () => {
    expect(await ids('c_2', 'c', 'c', 'c_4', 'c', 'c')).toHaveLength(6)
    expect(new Set(await ids('c_2', 'c', 'c', 'c_4', 'c', 'c')).size).toBe(6)
  })

  it('bring each result to its call', async () => {
    const calls = [1, 2, 3].map((n) => ({ name: 'work', callId: 'o/p', args: { n } }))
    const { session } = await turn([{ toolCalls: calls }, 'done'], [], { tools: [tool('work', ({ n }) => `ran ${n}`)] })
    expect(results(session.history)).toEqual({ o_p_2: 'ran 1', o_p_3: 'ran 2', o_p_4: 'ran 3' })
  })

  it.each([
    ['one id for all', () => 'same'],
    ['no id', () => ''],
    ['an id for each', (i: number) => `call-${i}`],
  ])('cost a call no more the more there are: %s', (_, idOf) => {
    const looks = (count: number) => {
      let asked = 0
      const known = new (class extends Set<string> {
        override has(id: string): boolean {
          asked++
          return super.has(id)
        }
      })()
      const answer = new Assembly('test')
      const unique = new UniqueCallIds({ callIds: known }, answer)
      for (let i = 0; i < count; i++)
        answer.add(unique.name({ type: 'tool-input-start', callId: idOf(i), name: 'work' }))
      return asked
    }
    expect(looks(4000)).toBeLessThan(looks(500) * 16)
  })

  it('are found without a look at the other calls of the answer', () => {
    const looks = (count: number) => {
      let read = 0
      const chunk = (type: 'tool-input-start' | 'tool-input-end', i: number) => ({
        type,
        name: 'work',
        get callId() {
          read++
          return `call-${i}`
        },
      })
      const answer = new Assembly('test')
      for (let i = 0; i < count; i++) answer.add(chunk('tool-input-start', i))
      for (let i = 0; i < count; i++) answer.add(chunk('tool-input-end', i))
      answer.close()
      return read
    }
    expect(looks(4000)).toBeLessThan(looks(500) * 16)
  })
})

import { describe, expect, it } from 'vitest'
import { ada, asks, found, scene } from './scene.ts'

const tenants = Array.from({ length: 10 }, (_, i) => `tenant${i}`)

/** Questions that are more than words to some index or database. */
const hostile = [
  'zebra OR 1=1',
  '"zebra" OR "vault"',
  "'; DROP TABLE passages; --",
  'owner:bob zebra',
  'tenant0 zebra',
  'NEAR(zebra vault, 5)',
  'zebra*',
  '^zebra',
  '- zebra',
  '{zebra}',
  '(zebra',
  'zebra\0vault',
  'ｚｅｂｒａ',
  '%zebra%',
  'zebra\n\nvault',
  '\ud800zebra',
  '[EMAIL_1] zebra',
  'date:2026 zebra',
  'zebra:*',
  '__proto__ constructor zebra',
  '\u202ezebra',
  'zebra & vault | !x',
  '*',
  '""',
  ':',
  '\\',
  'a'.repeat(5_000),
]

describe('memory.recall between tenants', () => {
  it('hands over no text of another tenant or user, whatever is asked, and fails at no question', async () => {
    const { agentOf, chat } = scene({ limit: 20 })
    for (const tenantId of tenants)
      for (const userId of ['ada', 'bob'])
        await chat('s', [`The zebra of ${tenantId}/${userId} is in the vault.`], ['Noted.'], { tenantId, userId })
    let [handed, foreign, errors] = [0, 0, 0]
    for (const tenantId of tenants)
      for (const question of hostile) {
        const { agent } = agentOf([asks(question), 'Ok.'])
        const { toolCalls } = await agent.session({ id: 'q', principal: { tenantId, userId: 'ada' } }).run('?')
        const texts = found({ toolCalls }).filter((text) => text.startsWith('The zebra'))
        handed += texts.length
        foreign += texts.filter((text) => !text.includes(`${tenantId}/ada`)).length
        if (toolCalls[0]?.result.isError === true && question.length <= 2_000) errors++
      }
    expect([foreign, errors]).toEqual([0, 0])
    expect(handed).toBeGreaterThan(tenants.length * 15)
  })

  it("keeps an owner's order when other tenants and users write the same words", async () => {
    const orderWith = async (others: readonly string[]) => {
      const { chat } = scene({ limit: 20 })
      await chat('a', ['The zebra sleeps.', 'The vault is open.'], ['Ok.', 'Ok.'])
      await chat('b', ['An alpaca.', 'A zebra in the vault.'], ['Ok.', 'Ok.'])
      for (const userId of others)
        for (const tenantId of ['acme', 'other'])
          await chat('c', ['zebra', 'zebra', 'alpaca zebra'], ['Ok.', 'Ok.', 'Ok.'], { tenantId, userId })
      return found((await chat('q', ['?'], [asks('zebra vault alpaca'), 'Ok.'])).result)
    }
    const alone = await orderWith([])
    expect(alone.slice(0, 3)).toContain('A zebra in the vault.')
    expect(await orderWith(['bob', 'eve'])).toEqual(alone)
  })

  it('marks the text of a colleague as untrusted in the conversations that a team shares', async () => {
    const { agentOf } = scene({}, [], { owner: () => 'team' })
    const ask = async (userId: string, id: string) => {
      const { agent } = agentOf([asks('alpaca'), 'Pia.'])
      const flows: unknown[] = []
      agent.on('memory:recall', ({ flow }) => flows.push(flow))
      const { toolCalls } = await agent.session({ id, principal: { tenantId: 'acme', userId } }).run('Who?')
      return [flows[0], String(toolCalls[0]?.result.content).includes('"from":"another user"')]
    }
    await using session = agentOf([
      { text: 'Working on it.', toolCalls: [{ name: 'none', args: {} }] },
      ' ',
    ]).agent.session({ id: 'y', principal: ada })
    await session.run('My alpaca is called Pia.')
    expect(await ask('ada', 'q1')).toEqual([{}, false])
    expect(await ask('bob', 'q2')).toEqual([{ untrusted: true }, true])
  })
})

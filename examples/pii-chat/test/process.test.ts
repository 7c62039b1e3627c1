import { scriptedModel } from 'allium/testing'
import { describe, expect, it } from 'vitest'
import { runExample } from '../../run-example.ts'
import { createMailAgent, sendMail } from '../src/mail-agent.ts'
import { openRecords } from '../src/records.ts'

const address = 'ola.nordmann@acme.example'

describe('a chat without personal data', { timeout: 60_000 }, () => {
  it('shows the view of the model, the tool and the user, and that no record has an original value', async () => {
    const { code, out, err } = await runExample(import.meta.url)
    expect([code, err]).toEqual([0, ''])
    const shown = Object.fromEntries(out.split('\n').map((line) => [line.slice(0, 20).trim(), line.slice(21)]))
    expect(shown['the user wrote']).toContain('dana@example.com')
    expect(shown['the model received']).toBe(
      'Tell [EMAIL_1] that her card [CARD_1] is renewed. My number is [PHONE_1].',
    )
    expect(shown['the tool received']).toContain('{"to":"dana@example.com","text":"Your card 4111 1111 1111 1111')
    expect(shown['the tool returned']).toBe('Sent to [EMAIL_1], with a copy for [EMAIL_2].')
    expect(shown['the model answered']).toContain('"a.nordmann@acme" ".exam" "ple or me."')
    expect(shown['the user saw']).toContain('"[EMAIL_3]"')
    const kept = out.match(/^ {2}(log|audit|trace|history|snapshot) +raw values: none; placeholders: .*\[EMAIL_3\]/gm)
    expect(kept).toHaveLength(5)
  })

  it('hides an address from the stream and the records, wherever its chunks are cut', async () => {
    for (let cut = 1; cut < address.length; cut++) {
      const model = scriptedModel([{ chunks: [`Ask ${address.slice(0, cut)}`, `${address.slice(cut)} first.`] }])
      const records = openRecords()
      const agent = createMailAgent(
        model,
        records,
        sendMail(() => {}),
      )
      const run = agent.run('Whom do I ask?')
      const read: string[] = []
      for await (const text of run.textStream) read.push(text)
      expect(read.join('')).toBe('Ask [EMAIL_1] first.')
      expect(JSON.stringify([read, records.kept()])).not.toContain('nordmann')
    }
  })

  it('gives the original values only to the listed tool', async () => {
    const model = scriptedModel([{ toolCalls: [{ name: 'post', args: { text: 'Mail [EMAIL_1]' } }] }, 'Done.'])
    const posted: string[] = []
    const agent = createMailAgent(
      model,
      openRecords(),
      sendMail(() => {}),
    ).use({
      name: 'post',
      tools: [{ name: 'post', description: 'Posts', jsonSchema: {}, execute: ({ text }) => posted.push(String(text)) }],
    })
    await agent.run(`My address is ${address}.`)
    expect(posted).toEqual(['Mail [EMAIL_1]'])
  })
})

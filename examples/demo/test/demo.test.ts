import { PassThrough } from 'node:stream'
import { text } from 'node:stream/consumers'
import { expect, it, onTestFinished } from 'vitest'
import type { Approver } from '../src/approver/approver.ts'
import { scriptedApprover } from '../src/approver/scripted-approver.ts'
import { terminalApprover } from '../src/approver/terminal-approver.ts'
import { runDemo } from '../src/demo.ts'
import { chooseModel } from '../src/models/choose-model.ts'
import type { Env } from '../src/models/chosen-model.ts'
import { createScreen, type Screen } from '../src/screen/screen.ts'
import { nobody, ollamaServer, openAiServer } from './servers.ts'

it('shows the answers of the model in ALLIUM_MODEL, and their cost', async () => {
  const { url } = await openAiServer('Let me', ' see.')
  const shown = await show({ ALLIUM_MODEL: 'openai/gpt-5-mini', OPENAI_API_KEY: 'key-1', OPENAI_BASE_URL: `${url}/v1` })
  expect(shown).toMatch(/^model +openai\/gpt-5-mini$/m)
  expect(shown).toContain('ALLIUM_MODEL is set to it')
  expect(shown).toMatch(/^agent +Let me see\.$/m)
  expect(shown).toMatch(/^cost +\$0\.0000\d, by/m)
})

it('shows the answers of a local Ollama, without a cost', async () => {
  const { host } = await ollamaServer({ models: ['qwen3:4b'], pieces: ['Let me', ' see.'] })
  const shown = await show({ OLLAMA_HOST: host })
  expect(shown).toMatch(/^model +ollama\/qwen3:4b$/m)
  expect(shown).toMatch(/^agent +Let me see\.$/m)
  expect(shown).toMatch(/^budget +\$0\.00 of/m)
})

it('waits for the input of a person at a terminal, then continues', async () => {
  const typed = new PassThrough()
  const answers = ['y', 'n, they work']
  const shown = await show({ OLLAMA_HOST: nobody }, (screen) => {
    const approver = terminalApprover(typed, screen)
    return (call, signal) => {
      const approval = approver(call, signal)
      typed.write(`${answers.shift()}\n`)
      return approval
    }
  })
  expect(shown).toMatch(/^pending +refund \{"orderId":"A-1042","amount":1060\}$/m)
  expect(shown).toContain('Approve? y, n')
  expect(shown).toContain('Refunded $1060 of order A-1042')
  expect(shown).toMatch(/^ {2}denied +The approver says no: they work$/m)
})

/** All that the demo writes with these variables. */
async function show(env: Env, approverOf: (screen: Screen) => Approver = scriptedApprover): Promise<string> {
  const chosen = await chooseModel(env)
  onTestFinished(() => chosen.close())
  const out = new PassThrough()
  const screen = createScreen(out)
  const [shown] = await Promise.all([
    text(out),
    runDemo(chosen, approverOf(screen), screen, new AbortController().signal).finally(() => out.end()),
  ])
  return shown
}

import { existsSync } from 'node:fs'
import { createInterface } from 'node:readline/promises'
import { createAgent } from './agent.ts'
import { chooseModel } from './model.ts'

if (existsSync('.env')) process.loadEnvFile('.env')

const { model, note } = chooseModel(process.env)
const agent = createAgent(model)
const session = agent.session()
const terminal = createInterface({ input: process.stdin, output: process.stdout, prompt: '\n> ' })

console.log(`Model: ${note}\nAsk something, such as "What time is it in Oslo?". /exit ends the chat.`)
terminal.prompt()
for await (const line of terminal) {
  const question = line.trim()
  if (question === '/exit') break
  if (question !== '') await answer(question)
  terminal.prompt()
}
terminal.close()
await agent.dispose()

async function answer(question: string): Promise<void> {
  try {
    const run = session.run(question)
    for await (const text of run.textStream) process.stdout.write(text)
    const { state } = await run
    const { inputTokens, outputTokens } = state['observe:usage:tokens'] // typed by the layer
    console.log(`\n(${inputTokens} tokens in, ${outputTokens} out in this session)`)
  } catch (error) {
    console.error(String(error))
  }
}

import { Agent, defineTool } from 'allium'
import * as guard from 'allium/guard'
import * as model from 'allium/model'
import { scriptedModel } from 'allium/testing'

// Ten classic mistakes, each as a newcomer makes it; what is printed is what he reads.
const says = (text = 'Hi.') => scriptedModel([text, text])
const run = (options, ...layers) => {
  const agent = new Agent({ model: says(), ...options })
  for (const layer of layers) agent.use(layer)
  return agent.run('Hi')
}
const aiSdkTool = { description: 'Adds.', inputSchema: { type: 'object' }, execute: () => 1 }
const aiSdkProvider = Object.assign((id) => ({ id }), { languageModel: () => ({}) })

const mistakes = {
  'an option with a typo': () => guard.budget({ limt: 1 }),
  'a tool of the AI SDK': () => run({ tools: [aiSdkTool] }),
  'a provider of the AI SDK as the model': () => run({ model: aiSdkProvider }),
  'a plain object as a schema': () =>
    run({ tools: [defineTool({ name: 'a', description: 'A', schema: { a: 'string' }, execute: () => 1 })] }),
  'tools as a map': () => run({ tools: { add: aiSdkTool } }),
  'a factory that is not called': () => run({}, model.retry),
  'a provider with a typo': () => run({ model: 'opnai/gpt-5-mini' }),
  'next() not awaited': () =>
    run(
      {},
      {
        name: 'hasty',
        async turn(_ctx, next) {
          next()
        },
      },
    ),
  'next() twice': () =>
    run(
      {},
      {
        name: 'twice',
        async turn(_ctx, next) {
          await next()
          await next()
        },
      },
    ),
  'no key': () => run({ model: 'openai/gpt-5-mini' }),
  'no tenant for a budget of tenants': () => run({}, guard.budget({ limit: 1, per: 'tenant' })),
}

const told = {}
for (const [name, make] of Object.entries(mistakes)) {
  try {
    await make()
    told[name] = { message: 'nothing' }
  } catch ({ code, message }) {
    told[name] = { code, message }
  }
}
console.log(JSON.stringify(told, null, 1))

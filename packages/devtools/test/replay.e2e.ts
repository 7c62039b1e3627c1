import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { violations } from './axe.ts'
import { ask, openPage, startProject } from './project.ts'

/** Its layer denies refunds. The tool would leave a file behind. */
const agent = `
import { writeFileSync } from 'node:fs'
import { Agent, defineMiddleware, defineTool } from 'allium'
import { promptCache } from 'allium/prompt-cache'
import { scriptedModel } from 'allium/testing'
import { z } from 'zod'

const refund = defineTool({
  name: 'refund',
  description: 'Refunds an order.',
  schema: z.object({ cents: z.number() }),
  execute: ({ cents }) => {
    writeFileSync('refunded', String(cents))
    return 'done'
  },
})
const cap = defineMiddleware({
  name: 'cap',
  tool: (ctx, next) => (ctx.args.cents > 100 ? ctx.deny('too much') : next()),
})
let calls = 0
const polite = defineMiddleware({
  name: 'polite',
  model(ctx, next) {
    ctx.addSystemMessage('Be polite, call ' + ++calls + '.')
    return next()
  },
})
const steps = [{ toolCalls: [{ name: 'refund', args: { cents: 500 } }] }, 'I cannot do that.']
const model = { id: 'scripted', stream: (request) => scriptedModel([steps[request.messages.at(-1).role === 'tool' ? 1 : 0]]).stream(request) }

export default new Agent({ name: 'support', model, tools: [refund] }).use(promptCache({ minLostTokens: 1 })).use(polite).use(cap)
const high = defineMiddleware({ name: 'cap', tool: (ctx, next) => (ctx.args.cents > 900 ? ctx.deny('too much') : next()) })
export const generous = () => new Agent({ name: 'support', model, tools: [refund] }).use(polite).use(high)
`

test('a recorded turn names the layer that broke the cache, and is replayed without a layer, in another order and with another option', async () => {
  const project = await startProject(agent)
  const { page, faults } = await openPage(project.inspector)
  await ask(page, 'Refund it')
  await page.getByText('I cannot do that.').waitFor()
  await page.getByText(/^Model call 2: prompt cache broken by polite in instructions, from token \d+/).waitFor()
  await page.getByRole('button', { name: 'Replay' }).first().click()
  const replay = async (verdict: RegExp) => {
    await page.locator('form.toolbar').getByRole('button', { name: 'Replay' }).click()
    await page.getByText(verdict).waitFor({ timeout: 50_000 })
  }
  await page.getByText('no model is called, and no tool runs').waitFor()
  await page.getByLabel(/^With\b/).selectOption('without')
  await page.getByLabel(/^Layer\b/).selectOption('cap')
  await replay(/^Different/)
  await page.getByRole('row', { name: /diverged here/ }).waitFor()
  expect(await violations(page)).toEqual([])
  await page.getByLabel(/^With\b/).selectOption('move')
  await page.getByLabel('Place').selectOption('outside')
  await page.getByLabel(/^of\b/).selectOption('polite')
  await replay(/^The same/)
  await page.getByLabel(/^With\b/).selectOption('export')
  await page.getByRole('textbox', { name: 'Export' }).fill('generous')
  await replay(/^Different/)
  expect(await violations(page)).toEqual([])
  expect(existsSync(join(project.cwd, 'refunded'))).toBe(false)
  expect(faults).toEqual([])
}, 240_000)

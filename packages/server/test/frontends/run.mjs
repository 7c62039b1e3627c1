// Runs the scenarios of each front end against a server, those with a page in Chromium, and prints the rows as JSON.
import { chromium } from 'playwright-core'
import { bundle } from './bundle.mjs'
import { rowOf } from './scenarios.mjs'

const [url, pages] = process.argv.slice(2)
const inBrowser = ['react', 'vue', 'svelte', 'assistant-ui', 'deep-chat']
const inNode = ['ag-ui', 'copilotkit', 'tanstack', 'openai', 'langchain', 'langchain-responses']

const browser = await chromium.launch({ executablePath: '/usr/bin/chromium', args: ['--no-sandbox'] })

async function inPage(name) {
  const page = await browser.newPage()
  const failed = new Promise((_, reject) => page.once('pageerror', reject))
  await page.goto(`${url}/pages/${name}`)
  return [name, await Promise.race([page.evaluate(() => globalThis.row), failed])]
}
async function inProcess(name) {
  const { default: client } = await import(`./clients/${name}.mjs`)
  return [name, await rowOf(name, client, url)]
}

try {
  await bundle(inBrowser, pages)
  const rows = await Promise.all([...inBrowser.map(inPage), ...inNode.map(inProcess)])
  console.log(JSON.stringify(Object.fromEntries(rows)))
} finally {
  await browser.close()
}
process.exit()

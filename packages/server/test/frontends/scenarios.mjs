// What each front end does with the same server. A row says `yes`, `no` where a front end has no way for it, or what went wrong.

const scenarios = {
  async chat({ page }) {
    await page.say('Hello')
    return same(page.texts(), ['Hello', 'You said: Hello.'])
  },
  async tool({ page }) {
    await page.say('What time is it?')
    const outputs = page.outputs?.() ?? ['Noon.']
    return same([...outputs, page.texts().at(-1)], ['Noon.', 'It is noon.'])
  },
  async approval({ page }) {
    if (page.approve === undefined) return undefined
    await page.say('Refund it.')
    await until(() => page.waits())
    await page.approve()
    await until(() => page.texts().join().includes('Refunded.'))
    return true
  },
  async reload({ page, open, id }) {
    if (page.follow === undefined && page.stored === undefined) return undefined
    if (page.stored !== undefined) {
      await page.say('Hello')
      return same(await page.stored(), page.texts().at(-1))
    }
    await page.say('Hello')
    const running = page.say(`Count ${id}`)
    await until(() => page.texts().at(-1).includes('One'))
    const reloaded = await open()
    const followed = reloaded.follow()
    await until(() => reloaded.texts().at(-1)?.includes('One'))
    await reloaded.goOn()
    await Promise.all([running, followed])
    return same(reloaded.texts(), ['Hello', 'You said: Hello.', `Count ${id}`, 'One two.'])
  },
  async edit({ page }) {
    if (page.edit === undefined) return undefined
    await page.say('Hello')
    await page.say('secret')
    await page.edit('edited')
    return same(page.texts(), ['Hello', 'You said: Hello.', 'edited', 'You said: Hello, edited.'])
  },
  async regenerate({ page }) {
    if (page.again === undefined) return undefined
    await page.say('Hello')
    await page.again()
    return same(page.texts(), ['Hello', 'You said: Hello.'])
  },
}

/** Runs each scenario in a session of its own. */
export async function rowOf(name, client, url) {
  const row = {}
  const headers = { authorization: 'acme/ann' }
  for (const [scenario, run] of Object.entries(scenarios)) {
    const id = `${name}-${scenario}`
    const open = async () => ({
      ...(await client.open({ url, id, headers })),
      goOn: () => fetch(`${url}/go-on/${id}`, { method: 'POST' }),
    })
    const found = await Promise.race([open().then((page) => run({ page, open, id })), tooLate()]).catch(String)
    row[scenario] = found === undefined ? 'no' : found === true ? 'yes' : found
  }
  return row
}

function same(found, expected) {
  const [a, b] = [JSON.stringify(found), JSON.stringify(expected)]
  return a === b || `${a} instead of ${b}`
}

/** A front end that waits for ever is no reason to do so, too. */
function tooLate() {
  return new Promise((_, reject) => setTimeout(reject, 20_000, new Error('It was not over within 20 s.')))
}

async function until(condition) {
  for (let waited = 0; !condition(); waited += 10) {
    if (waited > 10_000) throw new Error('It did not come within 10 s.')
    await new Promise((resolve) => setTimeout(resolve, 10))
  }
}

import { ask, fetchBill } from './client.ts'
import { listen } from './listen.ts'
import type { Principal } from './principal.ts'

const keys = new Map<string, Principal>()
const keyOf = (tenantId: string, userId: string, plan: Principal['plan']) => {
  keys.set(`key-of-${tenantId}-${userId}`, { tenantId, userId, plan })
  return `key-of-${tenantId}-${userId}`
}
const dana = keyOf('acme', 'dana', 'business')
const hank = keyOf('globex', 'hank', 'starter')
const ines = keyOf('initech', 'ines', 'business')
const racers = Array.from({ length: 100 }, (_, i) => keyOf('hooli', `user-${i}`, 'team'))
const logged: string[] = []
const { url, close } = await listen({ keys, log: (line) => void logged.push(line) })

try {
  heading('Three tenants at once')
  const [acme, globex, initech] = await Promise.all([
    askAll(dana, ['Is it open?', 'Is it far?', 'Is it free?']),
    askAll(hank, ['Is it new?', 'Is it good?', 'Is it cheap?']),
    askAll(ines, ['Is there a storm?']),
  ])
  for (const [tenant, answers] of Object.entries({ acme, globex, initech }))
    for (const { status, text, resets } of answers)
      console.log(`${tenant.padEnd(8)} ${status}${resets > 0 ? `, after ${resets} reset` : ''}: ${text}`)

  heading('Their bills, a line for each call')
  for (const [tenant, key] of Object.entries({ acme: dana, globex: hank, initech: ines })) {
    const { lines, total } = await fetchBill(url, key)
    console.log(`${tenant.padEnd(8)} ${lines.map(usd).join(' + ')} = ${usd(total)}`)
  }

  heading('A fourth question within a minute')
  const fourth = await ask(url, dana, 'Is it warm?')
  const { retryAfter = 0 } = fourth
  console.log(
    `acme     HTTP ${fourth.http}, retry after ${retryAfter > 0 && retryAfter <= 60 ? 'a minute or less' : retryAfter}`,
  )

  heading('100 concurrent turns with a budget for 10')
  const raced = await Promise.all(racers.map((key) => ask(url, key, 'Is it true?')))
  const count = (status: string) => raced.filter((one) => one.status === status).length
  const { lines, total } = await fetchBill(url, racers[0] ?? '')
  console.log(`hooli    ${count('completed')} completed, ${count('blocked')} blocked`)
  console.log(`hooli    ${lines.length} calls, ${usd(total)} of $0.0045`)

  heading('What the operator reads of it')
  for (const line of logged.slice(0, 1)) console.log(line)
  console.log(`… and ${logged.filter((line) => line.startsWith('hooli')).length} rejections of hooli`)
} finally {
  await close()
}

/** One question after the other. */
async function askAll(key: string, questions: readonly string[]) {
  const answers = []
  for (const question of questions) answers.push(await ask(url, key, question))
  return answers
}

function usd(amount: number): string {
  return `$${amount.toFixed(6)}`
}

function heading(text: string): void {
  console.log(`\n── ${text}\n`)
}

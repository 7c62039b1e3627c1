import { createAssistant } from './agent.ts'
import { chooseModel } from './model.ts'
import { openSecret } from './secret.ts'
import { openStore } from './store.ts'
import { openUsers } from './users.ts'

const { env } = process
const data = env.DATA ?? '.data'
const { model, note } = chooseModel(env)
console.log(`Model: ${note}`)

const { store } = await openStore(data)

export { store } // the inspector reads its sessions, and stores its own elsewhere

/** You, as the app knows you. The inspector shows the sessions of your tenant. */
const email = env.INSPECT_AS || 'developer@example.com'
export const principal = (await openUsers(store.keyValue).find(email)) ?? {
  tenantId: 'development',
  userId: 'developer',
  email,
}

/** The agent that `npm run inspect` opens in the inspector. */
export default createAssistant({ model, store, secret: openSecret(env, `${data}/secret`) })

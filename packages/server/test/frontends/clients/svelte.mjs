import { Chat } from '@ai-sdk/svelte'
import { aiSdk } from './ai-sdk.mjs'

export default aiSdk(Chat)

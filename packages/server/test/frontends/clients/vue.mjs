import { Chat } from '@ai-sdk/vue'
import { aiSdk } from './ai-sdk.mjs'

export default aiSdk(Chat)

import { Chat } from '@ai-sdk/react'
import { aiSdk } from './ai-sdk.mjs'

export default aiSdk(Chat)

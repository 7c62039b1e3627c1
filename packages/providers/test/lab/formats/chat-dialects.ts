import { openaiChat } from './openai-chat.ts'

/** Providers of the chat format, with what they add to it. */
export const chatFormats = [openaiChat({ name: 'openai-chat' })]

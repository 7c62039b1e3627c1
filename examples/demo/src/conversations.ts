import type { Context, Principal } from './principal.ts'

export interface Conversation {
  principal: Principal
  context: Context
  questions: string[]
}

export const conversations: Conversation[] = [
  {
    principal: { tenantId: 'acme', tenant: 'Acme Outdoors', userId: 'dana', plan: 'business' },
    context: { channel: 'chat', today: '2026-03-12' },
    questions: [
      'Where is our order A-1042?',
      'One camp stove arrived dented. Please refund it.',
      'Thanks. On second thought, refund all the rest of A-1042 too.',
    ],
  },
  {
    principal: { tenantId: 'globex', tenant: 'Globex', userId: 'hank', plan: 'starter' },
    context: { channel: 'chat', today: '2026-03-12' },
    questions: ['Show me order A-1042, please.', 'Then refund both desk sensors of G-2001, $98.'],
  },
]

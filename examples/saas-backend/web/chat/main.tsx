import '../shared/base.css'
import './chat.css'
import { createRoot } from 'react-dom/client'
import { SignedIn } from '../shared/sign-in.tsx'
import { Chats } from './chats.tsx'

createRoot(document.getElementById('root') as HTMLElement).render(<SignedIn>{(me) => <Chats me={me} />}</SignedIn>)

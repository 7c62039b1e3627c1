import '../shared/base.css'
import './layout.css'
import './message.css'
import './card.css'
import { createRoot } from 'react-dom/client'
import { Boundary } from '../shared/boundary.tsx'
import { SignedIn } from '../shared/sign-in.tsx'
import { Broken } from '../shared/states.tsx'
import { Chats } from './chats.tsx'

createRoot(document.getElementById('root') as HTMLElement).render(
  <Boundary fallback={<Broken>This page could not be shown. Reload it.</Broken>}>
    <SignedIn>{(me) => <Chats me={me} />}</SignedIn>
  </Boundary>,
)

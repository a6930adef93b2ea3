/** Asks for the token when the server does, and keeps it for as long as the tab is open. */
import { found } from './element.ts';
import { keepToken } from './server.ts';

export function askForToken(): Promise<void> {
  const dialog = found('token-dialog', HTMLDialogElement);
  const input = found('token', HTMLInputElement);
  return new Promise((resolve) => {
    const close = () => {
      dialog.removeEventListener('close', close);
      keepToken(input.value);
      input.value = '';
      resolve();
    };
    dialog.addEventListener('close', close);
    if (!dialog.open) dialog.showModal();
  });
}

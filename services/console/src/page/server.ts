/** Requests to the console's server. They carry the token; a refusal becomes an error. */
import { found } from './element.ts';

const TOKEN = 'freshet-token';

/** The server asks for a token: there was none, or it was wrong. */
export class TokenNeeded extends Error {
  override readonly name = 'TokenNeeded';
}

/** The server, or the scorer behind it, refused a request. The message is meant for the user. */
export class Refused extends Error {
  override readonly name = 'Refused';
  constructor(
    readonly status: number,
    detail: string,
  ) {
    super(detail);
  }
}

export async function ask(path: string, options: RequestInit = {}): Promise<Response> {
  const token = sessionStorage.getItem(TOKEN);
  const headers = new Headers(options.headers);
  if (token !== null) headers.set('authorization', `Bearer ${token}`);
  const response = await fetch(path, { ...options, headers });
  if (response.status === 401) throw new TokenNeeded('a token is needed');
  if (!response.ok) throw new Refused(response.status, await detailOf(response));
  return response;
}

export async function askJson<T>(path: string): Promise<T> {
  return (await (await ask(path)).json()) as T;
}

export async function tell<T>(path: string, body: object): Promise<T> {
  const headers = { 'content-type': 'application/json' };
  const response = await ask(path, { method: 'POST', headers, body: JSON.stringify(body) });
  return (await response.json()) as T;
}

async function detailOf(response: Response): Promise<string> {
  const text = await response.text();
  try {
    return String((JSON.parse(text) as { detail?: unknown }).detail ?? text);
  } catch {
    return text;
  }
}

/** Resolves once the user has typed a token. It is kept for as long as the tab is open. */
export function askForToken(): Promise<void> {
  const dialog = found('token-dialog', HTMLDialogElement);
  const input = found('token', HTMLInputElement);
  return new Promise((resolve) => {
    const close = () => {
      dialog.removeEventListener('close', close);
      sessionStorage.setItem(TOKEN, input.value);
      input.value = '';
      resolve();
    };
    dialog.addEventListener('close', close);
    if (!dialog.open) dialog.showModal();
  });
}

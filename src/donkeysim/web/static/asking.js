// A WebSocket over which the page asks and the server answers: one question under way at a time.

const FIRST_RETRY_MS = 500;
const LONGEST_RETRY_MS = 5000;

/** Asks questions over a WebSocket that is opened again, ever more patiently, whenever it closes. */
export class Asking {
  /**
   * @param {string} path of the WebSocket on this host
   * @param {(isOpen: boolean) => void} onChange called when the connection opens or closes
   */
  constructor(path, onChange = () => {}) {
    this.path = path;
    this.onChange = onChange;
    this.waiting = null;
    this.retry = FIRST_RETRY_MS;
    this.open();
  }

  get isOpen() { return this.socket.readyState === WebSocket.OPEN; }

  open() {
    const scheme = location.protocol === "https:" ? "wss:" : "ws:";
    this.socket = new WebSocket(`${scheme}//${location.host}${this.path}`);
    this.socket.binaryType = "blob";
    this.socket.onopen = () => { this.retry = FIRST_RETRY_MS; this.onChange(true); };
    this.socket.onmessage = (event) => this.settle(event.data);
    this.socket.onclose = () => this.lose();
  }

  /** Ask no more. */
  close() {
    this.isClosed = true;
    this.socket.close();
  }

  lose() {
    this.settle(null);
    if (this.isClosed) return;
    this.onChange(false);
    setTimeout(() => this.open(), this.retry);
    this.retry = Math.min(this.retry * 2, LONGEST_RETRY_MS);
  }

  settle(answer) {
    const done = this.waiting;
    this.waiting = null;
    if (done) done(answer);
  }

  /**
   * Ask; call only when the last answer has come.
   * @returns {Promise<string | Blob | null>} the answer, or null when there is no connection
   */
  ask(question) {
    if (!this.isOpen || this.waiting) return Promise.resolve(null);
    return new Promise((done) => {
      this.waiting = done;
      this.socket.send(JSON.stringify(question));
    });
  }
}

/** POST to this page; returns null when done, else the server's sentence why not, or the one for no answer at all. */
export async function post(path, body = {}, unreachable = "The simulator cannot be reached.") {
  try {
    const response = await fetch(path, {
      method: "POST",
      headers: { "Content-Type": "application/json" },
      body: JSON.stringify(body),
    });
    if (response.ok) return null;
    const text = await response.text();
    try { return JSON.parse(text).error ?? text; } catch { return text; }
  } catch {
    return unreachable;
  }
}

"""irctest controller for our own server.

Use it as `pytest --controller controller_parley` with this file's directory on
PYTHONPATH (run.sh does that); nothing is copied into the irctest checkout.

What it assumes of the server
    BINARY serve --config FILE       stays in the foreground, logs to stdout/stderr
    SIGTERM                          stops within 5 s (irctest sends SIGKILL after)
    OPER then REHASH                 re-reads FILE (one Ergo-only test needs it)

Environment
    PARLEY_BIN             path of the server binary (required)
    PARLEY_PROFILE         strict (default): claim everything listed in CLAIMS
                           below, so an absent feature is a failure;
                           lenient: claim nothing, so most absent optional
                           features become skips
    PARLEY_REGISTER        how test accounts are made: auto (default), command
                           (draft/account-registration) or nickserv
    PARLEY_LOG_DIR         keep each test's server output and config there
    PARLEY_FAKETIME        0: never wrap the server in faketime (needed when
                           the binary is statically linked)
    IRCTEST_DEBUG_LOGS     irctest's own: 1 puts server output in pytest's log

Everything that depends on our configuration format is in server_config(), and
everything that depends on which features we claim is in CLAIMS: adapt those two.
"""

from __future__ import annotations

import copy
import json
import os
from pathlib import Path
import re
import shutil
import subprocess
from typing import Any, Dict, List, Optional, Type

from irctest.basecontrollers import BaseServerController, DirectoryBasedController
from irctest.cases import BaseServerTestCase
from irctest.patma import ANYSTR, StrRe
from irctest.specifications import Capabilities, OptionalBehaviors

# Fixed by the suite: tests compare against these literally.
SERVER_NAME = "My.Little.Server"
OPER_NAME = "operuser"
OPER_PASSWORD = "operpassword"

# redact.py calls an assertion that the suite does not have (it is unittest's).
if not hasattr(BaseServerTestCase, "assertIsNotNone"):

    def _assert_is_not_none(_case: Any, value: Any, message: Optional[str] = None) -> None:
        assert value is not None, message

    BaseServerTestCase.assertIsNotNone = _assert_is_not_none

STRICT = os.environ.get("PARLEY_PROFILE", "strict") != "lenient"


# ===========================================================================
# ADAPT HERE (1 of 2): our configuration file, as TOML. The only place that knows
# the keys; what is not named stays at its default. Settings that we have no key
# for yet stay unused, and their tests fail.
# ===========================================================================
def server_config(t: "Settings") -> str:
    sections = {
        "server": {
            "name": SERVER_NAME,
            "network": "ParleyTest",
            "description": "test server",
            "motd": str(t.directory / "motd.txt"),
            "password": t.connection_password or "",
            "user-modes": t.default_user_modes.removeprefix("+"),
            # the suite takes Ergo's casemapping "ascii" for nicks of ASCII alone
            "unicode-nicks": t.casemapping != "ascii",
            "trusted-proxies": ["127.0.0.1"],
        },
        # durability is not what is measured here, and tests wait for every answer
        "store": {"path": str(t.directory / "data" / "parley.db"), "durability": "off"},
        # irctest counts the lines that follow a JOIN
        "history": {"replay": 0, "page": 100},
        "guests": {"show-token": False},
        # the suite's passwords are short, and its users many
        "accounts": {
            "before-connect": t.register_before_connect,
            "email-required": t.register_needs_email,
            "mail-command": ["/bin/true"] if t.register_needs_email else [],
            "password-length": 1,
            "registrations-per-hour": 10_000,
        },
        "limits": {
            "targets": 4,
            "monitor": 100,
        },
        "flood": {"enabled": False},
        "networks": {"connections": 0, "connects-per-minute": 0, "rate": 0},
        "log": {"level": "debug" if t.debug else "info"},
    }
    if t.tls:
        sections["tls"] = {"certificate": str(t.certificate), "key": str(t.key)}
    lines = ["# written by controller_parley.py"]
    for name, keys in sections.items():
        lines.append(f"[{name}]")
        # a JSON string, number or boolean is TOML too
        lines += [f"{key} = {json.dumps(value)}" for key, value in keys.items()]
    lines += ["[[listen]]", 'address = "127.0.0.1"', f"port = {t.port}"]
    lines.append(f'mode = "{"tls" if t.tls else "plain"}"')
    lines.append(f"proxy = {json.dumps(t.proxy_protocol)}")
    if t.websocket_port:
        lines += ["[[listen]]", 'address = "127.0.0.1"', f"port = {t.websocket_port}"]
        lines += ["websocket = true"]
    lines += ["[[operator]]", f'name = "{OPER_NAME}"', f'password = "plain:{OPER_PASSWORD}"']
    return "\n".join(lines) + "\n"


# ===========================================================================
# ADAPT HERE (2 of 2): what we claim to support.  A claimed feature that is
# missing fails its tests; an unclaimed one skips them.
# ===========================================================================
class CLAIMS:
    sasl_mechanisms = {"PLAIN", "SCRAM-SHA-256"}
    capabilities = frozenset(Capabilities) - {Capabilities.STS}
    optional_behaviors = frozenset(OptionalBehaviors) - {
        OptionalBehaviors.NON_UTF8_MESSAGE,  # contradicts UTF8ONLY
    }
    mute_extban = "m"
    isupport = {
        "BOT": StrRe("[A-Za-z]"),
        "CASEMAPPING": ANYSTR,
        "CHANTYPES": ANYSTR,
        "ELIST": StrRe("(?=.*C)(?=.*M)(?=.*N)(?=.*T)(?=.*U).*"),
        "EXCEPTS": "e",
        "INVEX": "I",
        "MONITOR": StrRe("[0-9]+"),
        "MSGREFTYPES": ANYSTR,
        "PREFIX": StrRe(r"\(.*o.*v\).*@.*\+"),
        "STATUSMSG": StrRe(".*@.*"),
        "TARGMAX": ANYSTR,
        "UTF8ONLY": None,
        "WHOX": None,
    }


# ===========================================================================
# From here on nothing should need adapting.
# ===========================================================================
class Settings:
    """One test's wishes, in words of our own."""

    def __init__(self, directory: Path) -> None:
        self.directory = directory
        self.port = 0
        self.websocket_port: Optional[int] = None
        self.tls = False
        self.certificate: Optional[Path] = None
        self.key: Optional[Path] = None
        self.debug = False
        self.connection_password: Optional[str] = None
        self.register_before_connect = False
        self.register_needs_email = False
        self.roleplay = False
        # the four below only change through the suite's ergo_config hook
        self.casemapping = "ascii"
        self.default_user_modes = ""
        self.multiple_sessions = True
        self.always_on = "opt-in"
        self.proxy_protocol = False
        self.znc_maximum = 2048

    # Some tests (also ones that are not Ergo-specific, e.g. the read-marker
    # ones) set options through a hook that edits Ergo's configuration dict.
    # These two show it such a dict and read the edited one back.
    def as_ergo(self) -> Dict[str, Any]:
        return {
            "server": {
                "casemapping": self.casemapping,
                "listeners": {f"127.0.0.1:{self.port}": None},
            },
            "accounts": {
                "default-user-modes": self.default_user_modes,
                "multiclient": {
                    "enabled": self.multiple_sessions,
                    "allowed-by-default": self.multiple_sessions,
                    "always-on": self.always_on,
                },
            },
            "history": {"znc-maxmessages": self.znc_maximum},
        }

    def read_ergo(self, ergo: Dict[str, Any]) -> None:
        self.casemapping = ergo["server"]["casemapping"]
        self.proxy_protocol = any(
            (conf or {}).get("proxy", False)
            for conf in ergo["server"]["listeners"].values()
        )
        self.default_user_modes = ergo["accounts"]["default-user-modes"]
        self.multiple_sessions = ergo["accounts"]["multiclient"]["enabled"]
        self.always_on = ergo["accounts"]["multiclient"]["always-on"]
        self.znc_maximum = ergo["history"]["znc-maxmessages"]


class ParleyController(BaseServerController, DirectoryBasedController):
    software_name = "Parley"
    _port_wait_interval = 0.02
    supports_sts = False  # only client tests read this
    supported_sasl_mechanisms = set(CLAIMS.sasl_mechanisms)
    capabilities = CLAIMS.capabilities if STRICT else frozenset()
    optional_behaviors = CLAIMS.optional_behaviors if STRICT else frozenset()
    isupport = dict(CLAIMS.isupport) if STRICT else {}
    extban_mute_char = CLAIMS.mute_extban

    _settings: Settings
    _command: List[str]
    _latest: Optional["ParleyController"] = None

    # --- called by the suite ---------------------------------------------
    def run(
        self,
        hostname: str,
        port: int,
        *,
        password: Optional[str],
        ssl: bool,
        run_services: bool,  # accounts are built in: nothing more to start
        faketime: Optional[str],
        websocket_hostname: Optional[str],
        websocket_port: Optional[int],
    ) -> None:
        binary = os.environ.get("PARLEY_BIN")
        if not binary:
            raise RuntimeError("PARLEY_BIN is not set")
        assert self.proc is None
        self._end_leftover()
        self.hostname = hostname  # the suite passes 0.0.0.0; we bind 127.0.0.1
        self.port = port
        self.create_config()
        assert self.directory

        settings = self._settings = Settings(self.directory)
        settings.port = port
        settings.websocket_port = websocket_port
        settings.debug = self.debug_mode
        settings.connection_password = password
        settings.register_before_connect = (
            self.test_config.account_registration_before_connect
        )
        settings.register_needs_email = (
            self.test_config.account_registration_requires_email
        )
        settings.roleplay = self.test_config.ergo_roleplay
        if ssl:
            self.gen_ssl()
            settings.tls = True
            settings.certificate, settings.key = self.pem_path, self.key_path
        if self.test_config.ergo_config:
            ergo = settings.as_ergo()
            self.test_config.ergo_config(ergo)
            settings.read_ergo(ergo)

        (self.directory / "motd.txt").write_text("Welcome to the irctest instance.\n")
        self._write_config()

        self._command = [binary, "serve", "--config", str(self._config_path)]
        if faketime and os.environ.get("PARLEY_FAKETIME") != "0":
            if shutil.which("faketime"):
                # timers stay on the real clock; only the wall clock is faked
                self._command = [
                    "faketime", "--exclude-monotonic", "-f", faketime, *self._command,
                ]
                self.faketime_enabled = True
        self._start()

    def wait_for_services(self) -> None:
        pass  # built in

    def registerUser(
        self,
        case: BaseServerTestCase,
        username: str,
        password: Optional[str] = None,
    ) -> None:
        if not case.run_services:
            raise ValueError("this test registers an account without run_services")
        assert password
        if len(f"PRIVMSG NickServ :REGISTER {password} x@example.org".encode()) > 510:
            # a password longer than a line of IRC: an operator adds the account
            self.wait_for_port()
            subprocess.run(
                [self._command[0], "--config", str(self._config_path), "account", "add", username],
                input=password + "\n", text=True, check=True, stdout=subprocess.DEVNULL,
            )
            return

        client = case.addClient(show_io=False)
        case.sendLine(client, f"NICK {username}")
        case.sendLine(client, "USER r 0 * :registering")
        while case.getRegistrationMessage(client).command != "001":
            pass
        case.getMessages(client)

        how = os.environ.get("PARLEY_REGISTER", "auto")
        replies = []
        done = False
        if how in ("auto", "command"):
            case.sendLine(client, f"REGISTER * * :{password}")
            replies = case.getMessages(client)
            done = any(m.command == "REGISTER" and m.params[0] == "SUCCESS" for m in replies)
        if not done and how in ("auto", "nickserv"):
            case.sendLine(
                client, f"PRIVMSG NickServ :REGISTER {password} x@example.org"
            )
            replies = case.getMessages(client)
            done = any(m.command == "900" for m in replies) or any(
                m.command == "NOTICE" and "account created" in m.params[-1].lower()
                for m in replies
            )
        assert done, f"could not register account {username}: {[str(m) for m in replies]}"
        case.sendLine(client, "QUIT")
        case.assertDisconnected(client)

    # used by Ergo-specific tests only
    def restart(self) -> None:
        self.kill_proc()
        self.port_open = False
        self._start()
        self.wait_for_port()

    def getConfig(self) -> Dict[str, Any]:
        return copy.deepcopy(self._settings.as_ergo())

    def rehash(self, case: BaseServerTestCase, config: Dict[str, Any]) -> None:
        self._settings.read_ergo(config)
        self._write_config()
        name = "rehasher"
        case.connectClient(nick=name, name=name)  # type: ignore[arg-type]
        case.sendLine(name, f"OPER {OPER_NAME} {OPER_PASSWORD}")
        case.sendLine(name, "REHASH")
        case.getMessages(name)
        case.sendLine(name, "QUIT")
        case.assertDisconnected(name)

    # --- ours --------------------------------------------------------------
    def _end_leftover(self) -> None:
        # pytest does no tear-down after a set-up that raised (as in bot_mode.py when
        # BOT is absent), so that test's server still runs.  A worker runs one test
        # at a time: whatever it started before is a leftover.  run.sh ends the last.
        leftover = ParleyController._latest
        if leftover is not None and leftover.proc is not None:
            leftover.kill()
        ParleyController._latest = self

    def _write_config(self) -> None:
        assert self.directory
        self._config_path = self.directory / "parley.toml"
        self._config_path.write_text(server_config(self._settings))

    def _start(self) -> None:
        log_dir = os.environ.get("PARLEY_LOG_DIR")
        if not log_dir:
            self.proc = self.execute(self._command, proc_name="parley")
            return
        # e.g. "irctest/server_tests/kick.py::KickTestCase::testX[a] (setup)"
        test = os.environ.get("PYTEST_CURRENT_TEST", "unknown").rsplit(" ", 1)[0]
        name = re.sub(r"[^A-Za-z0-9_.:\[\]-]+", "_", test.split("server_tests/")[-1])[:180]
        Path(log_dir).mkdir(parents=True, exist_ok=True)
        shutil.copy(self._config_path, Path(log_dir) / f"{name}.toml")
        with open(Path(log_dir) / f"{name}.log", "ab") as log:
            self.proc = self.execute(
                self._command, proc_name="parley", stdout=log, stderr=log
            )


def get_irctest_controller_class() -> Type[ParleyController]:
    return ParleyController
